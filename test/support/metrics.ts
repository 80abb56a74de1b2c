import parse from 'parse-prometheus-text-format';

/** A value of a metric in Prometheus' text format. */
export interface ReadSample {
  readonly name: string;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the text format by a parser of npm. Histograms have a NaN instead of their values. */
export function parseMetrics(text: string): ReadSample[] {
  return parse(text).flatMap(({ name, type, metrics }) =>
    metrics.map(({ labels = {}, value = '' }) => ({ name, type, labels, value: readNumber(value) })),
  );
}

function readNumber(text: string): number {
  return text === '' ? Number.NaN : Number(text.replace('Inf', 'Infinity'));
}
