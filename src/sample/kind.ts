import type { Micros } from '../lib/instant.ts';
import type { Random } from '../lib/random.ts';
import type { FunctionCall } from './call.ts';
import type { Project } from './project.ts';

/** The circumstances of an event. */
export interface Moment {
  readonly random: Random;
  readonly project: Project;
  readonly at: Micros;
  /** Whether the project has an outage, with a burst of errors. */
  readonly failing: boolean;
}

/** The part of an event that depends on its source. */
export interface Description {
  readonly message: string;
  /** The metadata, as in the event's JSON. */
  readonly metadata: object;
}

/** A source of a sample. */
export interface SampleKind {
  /** Its wire name. */
  readonly source: string;
  /** Share of all events, percent. */
  readonly percent: number;
  /** Describes its events other than calls; without it the source has only calls. */
  readonly describe?: (moment: Moment) => Description;
  /** Describes calls of functions, which several sources have. @param random the generator of this source */
  readonly describeCall?: (call: FunctionCall, random: Random) => Description;
}

/** `2026-11-20T07:00:00.123Z` */
export function isoInstant(at: Micros): string {
  return new Date(at / 1000).toISOString();
}
