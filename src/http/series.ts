import { Counter, Histogram, type Registry } from 'prom-client';

/** What every metric is made of. */
export interface MetricOptions<Label extends string> {
  readonly registry: Registry;
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
}

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** Adds to the count of some labels; made once for them, since finding a series by its labels costs more than a cached answer may. */
export type Add = (count: number) => void;

/** A counter whose counts are plain numbers until metrics are asked for. */
export function createCounts<Label extends string>(
  options: MetricOptions<Label>,
): (labels: Labels<Label>) => Add {
  const { registry, name, help, labelNames } = options;
  const series: { readonly labels: Labels<Label>; count: number }[] = [];
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      for (const one of series) {
        this.inc(one.labels, one.count);
        one.count = 0;
      }
    },
  });
  return (labels) => {
    const own = { labels, count: 0 };
    series.push(own);
    return (count) => {
      own.count += count;
    };
  };
}

interface Times<Label extends string> {
  readonly labels: Labels<Label>;
  /** Of each bucket alone, the last for what is above all bounds. */
  readonly counts: number[];
  sum: number;
}

/** A histogram of the same kind. @param bounds upper ones of its buckets, ascending */
export function createTimes<Label extends string>(
  { registry, name, help, labelNames }: MetricOptions<Label>,
  bounds: readonly number[],
): (labels: Labels<Label>) => Add {
  const series: Times<Label>[] = [];

  class PlainHistogram extends Histogram<Label> {
    /** What prom-client's registry asks of a histogram; its types leave it out. */
    getForPromString() {
      return { name, help, type: 'histogram', values: series.flatMap((one) => tell(name, one, bounds)) };
    }
  }
  new PlainHistogram({
    name,
    help,
    labelNames: [...labelNames],
    buckets: [...bounds],
    registers: [registry],
  });
  return (labels) => {
    const own: Times<Label> = { labels, counts: new Array(bounds.length + 1).fill(0), sum: 0 };
    series.push(own);
    return (value) => {
      let at = 0;
      while (at < bounds.length && value > (bounds[at] ?? 0)) at++;
      own.counts[at] = (own.counts[at] ?? 0) + 1;
      own.sum += value;
    };
  };
}

/** In Prometheus' form, in which each bucket holds those below it too. */
function tell<Label extends string>(
  name: string,
  { labels, counts, sum }: Times<Label>,
  bounds: readonly number[],
) {
  let count = 0;
  const buckets = counts.map((own, at) => {
    count += own;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[at] ?? '+Inf' }, value: count };
  });
  const totals = [
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
  // prom-client keeps what the values of one series have in common apart; here each has all of its own.
  return [...buckets, ...totals].map((value) => ({ ...value, sharedLabels: {} }));
}
