import type { Source } from '../definitions/source.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import type { Body } from './body-reader.ts';
import type { Committer } from './committer.ts';
import type { OnWithoutProject } from './without-project.ts';

/** What came of a request's events: all that were not refused are stored. */
export interface Received {
  readonly stored: number;
  /** See `ReadEvents`. */
  readonly reasons: readonly string[];
  readonly refused: number;
  /** Of the stored events, those that belong to no project; `undefined` in answers kept by older versions. */
  readonly withoutProject?: number;
}

export type Receive = (source: Source, body: Body, options: ReceiveOptions) => Promise<Received>;

export interface ReceiveOptions {
  /** Whose an event is that does not say so itself. */
  readonly project: string;
  /** See `EventRules`. */
  readonly pinnedProject?: string | undefined;
  /** See `Committer.commit`. */
  readonly token?: string | undefined;
}

export interface ReceiverOptions {
  readonly committer: Committer;
  /** ms since the epoch. */
  readonly now: () => number;
  /** The time by which an event's age is judged, ms since the epoch; not `now` while that is known to be wrong. */
  readonly ageAt: () => number;
  readonly eventBytesMax: number;
  readonly onRefused: (source: string, count: number) => void;
  readonly onWithoutProject: OnWithoutProject;
}

/** Reads the events of one request by the rules of docs/ingest.md and stores the good ones before it resolves. */
export function createReceiver(options: ReceiverOptions): Receive {
  const { committer, now, ageAt, eventBytesMax, onRefused, onWithoutProject } = options;
  return async (source, body, { project, pinnedProject, token }) => {
    const times = { now: now() * MICROS_PER_MS, ageAt: ageAt() * MICROS_PER_MS };
    const rules = { ...times, eventBytesMax, project, pinnedProject };
    const { rows, good, withoutProject, refused, reasons } = await body.read(source, rules);
    if (refused > 0) onRefused(source.name, refused);
    if (rows.length > 0) await committer.commit(source, rows, token);
    if (withoutProject > 0) onWithoutProject(source.name, withoutProject);
    return { stored: good, reasons, refused, withoutProject };
  };
}
