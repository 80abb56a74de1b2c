import { AsyncLocalStorage } from 'node:async_hooks';
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

/** One value, or one for each value of the metric's label; `undefined` for none now. */
type Gauged = number | boolean | Iterable<readonly [label: string, value: number | boolean]> | undefined;

/** Whether a reader sees the series with these labels. */
export type IsShown = (labels: ExposedValue['labels']) => boolean;

/** A value for each label name. */
export type LabelValues<Names extends readonly string[]> = { readonly [At in keyof Names]: string };

export type MetricRegistry = ReturnType<typeof createMetricRegistry>;

/** Metrics that `render` writes in Prometheus' text format. One for each service: two in one process share no counts. */
export function createMetricRegistry() {
  const exposed: ExposedMetric[] = [];
  const expose = (metric: ExposedMetric) => void exposed.push(metric);
  let loading: ReturnType<typeof createRender> | undefined;
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
    /** @param read called for each scrape @param label of the values, if there are several */
    gauge(name: string, help: string, read: () => Gauged | Promise<Gauged>, label = ''): void {
      const readValues = async () => {
        const found = (await read()) ?? [];
        if (typeof found !== 'object') return [{ labels: {}, value: Number(found) }];
        return [...found].map(([of, value]) => ({ labels: { [label]: of }, value: Number(value) }));
      };
      expose({ name, help, type: 'gauge', read: readValues });
    },
    /** To be called once everything is exposed. @param isShown default: all */
    async render(isShown: IsShown = () => true): Promise<string> {
      loading ??= createRender(exposed);
      return (await loading)(isShown);
    },
  };
}

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

async function createRender(exposed: readonly ExposedMetric[]) {
  const { collectDefaultMetrics, Gauge, Registry } = await import('prom-client'); // loaded only if it is used
  const registry = new Registry();
  // The registry asks every metric without an argument.
  const shown = new AsyncLocalStorage<IsShown>();
  collectDefaultMetrics({ register: registry }); // event loop delay, memory, garbage collection
  // Gauges with the name of a counter, of which the same without `_total` has the parts.
  for (const metric of registry.getMetricsAsArray())
    if (metric instanceof Gauge && metric.name.endsWith('_total')) registry.removeSingleMetric(metric.name);
  for (const { name, help, type, read } of exposed) {
    const metric = new Gauge({ name, help, registers: [registry] });
    // prom-client does not count. Its registry renders the result of this method, which its types leave out.
    const readShown = async () => {
      const isShown = shown.getStore() ?? (() => true);
      return { name, help, type, values: (await read()).filter(({ labels }) => isShown(labels)) };
    };
    Object.assign(metric, { getForPromString: readShown });
  }
  return (isShown: IsShown) => shown.run(isShown, () => registry.metrics());
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
