import { GENERAL_SOURCE } from '../../src/definitions/accepts.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import type { Source } from '../../src/definitions/source.ts';
import { sampleEvents } from '../../src/sample/event.ts';
import { planSample } from '../../src/sample/plan.ts';
import type { SampleOptions } from '../../src/sample/project.ts';

const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });

/** The shipped ones, except for the general source and those that Tailrace writes, which have no kind of events. */
export const SOURCES: readonly Source[] = definitions.sources.filter(
  ({ name, isInternal }) => name !== GENERAL_SOURCE && isInternal !== true,
);

/** A Friday. */
export const END = Date.UTC(2026, 10, 20, 7, 30) * 1000;

export const OPTIONS: SampleOptions = { rows: 40_000, seed: 1, days: 7, projects: 3, end: END };

/** The sample's events of one source. @param retentionDays instead of the source's own */
export function eventsOf(sourceName: string, options: Partial<SampleOptions> = {}, retentionDays?: number) {
  const all = { ...OPTIONS, ...options };
  const sources = SOURCES.map((source) =>
    source.name === sourceName ? { ...source, retentionDays: retentionDays ?? source.retentionDays } : source,
  );
  const part = planSample(sources, all).find(({ source }) => source.name === sourceName);
  if (part === undefined) throw new Error(`no sample of ${sourceName}`);
  return { source: part.source, events: [...sampleEvents(part, all)] };
}

/** The quarter past each hour of a working day. */
export function hoursOfDay(): number[] {
  return Array.from({ length: 24 }, (_, hour) => Date.UTC(2026, 10, 19, hour, 15) * 1000);
}
