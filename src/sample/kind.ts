import type { Micros } from '../lib/instant.ts';
import type { Random } from '../lib/random.ts';
import type { DescribeCall } from './call.ts';
import type { Project } from './project.ts';

/** What is known of an event before its source makes it up. */
export interface Moment {
  readonly random: Random;
  readonly project: Project;
  readonly at: Micros;
  /** The project has an outage: errors come in a burst. */
  readonly failing: boolean;
}

/** What is a source's own in an event. */
export interface Description {
  readonly message: string;
  /** As it stands in the event's JSON. */
  readonly metadata: object;
}

/** A source whose events are made up. */
export interface SampleKind {
  /** Its wire name. */
  readonly source: string;
  /** Of all events, in percent. */
  readonly percent: number;
  /** Its events, but those of calls. */
  readonly describe?: (moment: Moment) => Description;
  /** Its events of calls of functions, which other sources have too. Without `describe` it has no others. */
  readonly describeCall?: DescribeCall;
}

/** `2026-11-20T07:00:00.123Z` */
export function isoInstant(at: Micros): string {
  return new Date(at / 1000).toISOString();
}
