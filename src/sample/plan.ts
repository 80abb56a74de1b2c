import type { Source } from '../definitions/source.ts';
import type { Micros } from '../lib/instant.ts';
import type { CallPlan } from './call.ts';
import type { SampleKind } from './kind.ts';
import { SAMPLE_KINDS } from './kinds.ts';

/** What is asked for. The same options, `end` among them, always give the same events. */
export interface SampleOptions {
  /** Events over all sources. */
  readonly rows: number;
  readonly seed: number;
  /** How far back the events reach; no further than a source keeps them. */
  readonly days: number;
  readonly projects: number;
  /** The instant up to which there are events. */
  readonly end: Micros;
}

/** The events of one source that are to be made. */
export interface SamplePart {
  readonly source: Source;
  readonly kind: SampleKind;
  /** Its events, those of calls among them. */
  readonly rows: number;
  /** Calls of functions, of which it has an event each: the same ones in each source that has any. */
  readonly calls: CallPlan;
}

/** Shares the rows out among those sources that can be made up; a store that lacks some gets more of the others. */
export function planSample(
  sources: readonly Source[],
  { rows, days }: Pick<SampleOptions, 'rows' | 'days'>,
): SamplePart[] {
  const parts = SAMPLE_KINDS.flatMap((kind) => {
    const source = sources.find((one) => one.name === kind.source);
    return source === undefined ? [] : [{ source, kind }];
  });
  const total = parts.reduce((sum, { kind }) => sum + kind.percent, 0);
  let passed = 0;
  let planned = 0;
  const shared = parts.map(({ source, kind }) => {
    passed += kind.percent;
    const own = Math.round((rows * passed) / total) - planned;
    planned += own;
    return { source, kind, rows: own };
  });
  const calls = planCalls(shared, days);
  return shared.map((part) => ({ ...part, calls: part.kind.describeCall ? calls : NO_CALLS }));
}

const NO_CALLS: CallPlan = { rows: 0, days: 0 };

/** As many calls as the relay has events, as far back as each source keeps that has any. */
function planCalls(parts: readonly Omit<SamplePart, 'calls'>[], days: number): CallPlan {
  const callers = parts.filter(({ kind }) => kind.describeCall !== undefined);
  const relay = callers.find(({ kind }) => kind.describe === undefined);
  // Where the relay's source is not defined the gateway has its requests all the same.
  const rows = relay?.rows ?? Math.floor((callers[0]?.rows ?? 0) * CALLS_OF_REQUESTS);
  return {
    rows: Math.min(rows, ...callers.map((part) => part.rows)),
    days: Math.min(days, ...callers.map(({ source }) => source.retentionDays)),
  };
}

const CALLS_OF_REQUESTS = 0.25;
