import type { Source } from '../definitions/source.ts';
import type { Micros } from '../lib/instant.ts';
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
  readonly rows: number;
}

/** Shares the rows out among those sources that can be made up; a store that lacks some gets more of the others. */
export function planSample(sources: readonly Source[], rows: number): SamplePart[] {
  const parts = SAMPLE_KINDS.flatMap((kind) => {
    const source = sources.find((one) => one.name === kind.source);
    return source === undefined ? [] : [{ source, kind }];
  });
  const total = parts.reduce((sum, { kind }) => sum + kind.percent, 0);
  let passed = 0;
  let planned = 0;
  return parts.map(({ source, kind }) => {
    passed += kind.percent;
    const own = Math.round((rows * passed) / total) - planned;
    planned += own;
    return { source, kind, rows: own };
  });
}
