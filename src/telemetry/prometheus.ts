import { type Counter, createDurations, createSeries, type Durations, readBuckets } from './series.ts';

/** A metric as Prometheus reads it. */
export interface ExposedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Called for each scrape. */
  readonly read: () => readonly ExposedValue[] | Promise<readonly ExposedValue[]>;
}

interface ExposedValue {
  /** For a histogram: the name of the metric with the suffix of the value. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** One value, or one for each combination of label values; `undefined` for none now. */
type Gauged =
  | number
  | boolean
  | Iterable<readonly [labels: string | readonly string[], value: number | boolean]>
  | undefined;

/** A value for each label name. */
export type LabelValues<Names extends readonly string[]> = { readonly [At in keyof Names]: string };

export type MetricRegistry = ReturnType<typeof createMetricRegistry>;

/** Metrics that `render` writes in Prometheus' text format. One for each service: two in one process share no counts. */
export function createMetricRegistry() {
  const exposed: ExposedMetric[] = [];
  const expose = (metric: ExposedMetric) => void exposed.push(metric);
  let ofProcess: ReturnType<typeof collectProcessMetrics> | undefined;
  return {
    expose,
    /** In the order of their definition, without those of the process; docs/metrics.md is generated from them. */
    exposed: exposed as readonly ExposedMetric[],
    /** Create known label values before their first count: Prometheus only sees increases of existing series. */
    counter<const Names extends readonly string[]>(
      name: string,
      help: string,
      labelNames: Names,
    ): Counter<LabelValues<Names>> {
      const series = createSeries<LabelValues<Names>, { value: number }>(() => ({ value: 0 }));
      const read = () =>
        series.all.map(([values, { value }]) => ({ labels: toLabels(labelNames, values), value }));
      expose({ name, help, type: 'counter', read });
      return { ...series, inc: (...values) => void series.at(...values).value++ };
    },
    histogram<const Names extends readonly string[]>(name: string, help: string, labelNames: Names) {
      const histogram = createSeries<LabelValues<Names>, Durations>(createDurations);
      const read = () =>
        histogram.all.flatMap(([values, item]) => exposeDurations(name, toLabels(labelNames, values), item));
      expose({ name, help, type: 'histogram', read });
      return histogram;
    },
    /** @param read called for each scrape */
    gauge(
      name: string,
      help: string,
      read: () => Gauged | Promise<Gauged>,
      ...labelNames: readonly string[]
    ): void {
      const readValues = async () => {
        const found = (await read()) ?? [];
        if (typeof found !== 'object') return [{ labels: {}, value: Number(found) }];
        return [...found].map(([of, value]) => ({
          labels: toLabels(labelNames, [of].flat()),
          value: Number(value),
        }));
      };
      expose({ name, help, type: 'gauge', read: readValues });
    },
    /** @param isShown whether the reader sees the series with these labels; default: all */
    async render(isShown: (labels: ExposedValue['labels']) => boolean = () => true): Promise<string> {
      ofProcess ??= collectProcessMetrics();
      const own = exposed.map(async ({ name, help, type, read }) => {
        const shown = (await read()).filter(({ labels }) => isShown(labels));
        const lines = shown.map((one) => `${one.metricName ?? name}${writeLabels(one.labels)} ${one.value}`);
        return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
      });
      return [await (await ofProcess).metrics(), ...(await Promise.all(own))].join('\n');
    },
  };
}

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

async function collectProcessMetrics() {
  const { collectDefaultMetrics, Gauge, Registry } = await import('prom-client'); // loaded only if it is used
  const registry = new Registry();
  collectDefaultMetrics({ register: registry }); // event loop delay, memory, garbage collection
  // Gauges with the name of a counter, of which the same without `_total` has the parts.
  for (const metric of registry.getMetricsAsArray())
    if (metric instanceof Gauge && metric.name.endsWith('_total')) registry.removeSingleMetric(metric.name);
  return registry;
}

function writeLabels(labels: ExposedValue['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    const escaped = String(value).replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');
    return `${name}="${escaped}"`;
  });
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function toLabels(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']));
}

function exposeDurations(
  name: string,
  labels: Readonly<Record<string, string>>,
  durations: Durations,
): ExposedValue[] {
  const buckets = readBuckets(durations);
  const metricName = `${name}_bucket`;
  return [
    ...buckets.map(({ le, count }) => ({ metricName, labels: { ...labels, le }, value: count })),
    { metricName: `${name}_sum`, labels, value: durations.sum },
    { metricName: `${name}_count`, labels, value: buckets.at(-1)?.count ?? 0 },
  ];
}
