/** What the chart shows of the events of a time bucket: `count`, or a function of a field, `p95(execution_time_ms)`. */
interface Measure {
  readonly name: MeasureName;
  /** Empty for `count`. */
  readonly field: string;
}

export const MEASURES = ['count', 'avg', 'p50', 'p95', 'p99', 'sum', 'distinct'] as const;

export type MeasureName = (typeof MEASURES)[number];

const COUNT: Measure = { name: 'count', field: '' };

/** Reads a measure of an address; another text counts events. */
export function parseMeasure(text: string): Measure {
  const [, found = '', field = ''] = /^(\w{1,20})\(([\s\S]{1,300})\)$/.exec(text) ?? [];
  const name = MEASURES.find((one) => one === found);
  return name === undefined || name === 'count' ? COUNT : { name, field };
}

/** As the service reads it; empty for the number of events. */
export function formatMeasure({ name, field }: Measure): string {
  return name === 'count' ? '' : `${name}(${field})`;
}

/** Whether values of series and of time buckets can be added: others are drawn as lines beside each other. */
export function isAdditive(measure: string): boolean {
  const { name } = parseMeasure(measure);
  return name === 'count' || name === 'sum';
}

export function needsNumbers(name: MeasureName): boolean {
  return name !== 'count' && name !== 'distinct';
}

/** Numbers of series to choose from, besides the default. */
export const TOPS: readonly number[] = [3, 5, 12, 20];
