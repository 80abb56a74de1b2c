import type { Source } from '../definitions/source.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import { type Event, parseEvent } from './event.ts';
import { type FilterCounts, findFilter } from './filter/filter.ts';
import type { LineSink } from './load.ts';
import { RefusedEvent } from './read-event.ts';
import type { EventWriter } from './writer.ts';

export interface StoreSinkOptions {
  /** The project of events that name none. */
  readonly project: string;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Counts the events to which rules of the source apply. */
  readonly filtered: FilterCounts;
  readonly onRejected: (line: number, reason: string) => void;
  /** Called for each event that belongs to no project. */
  readonly onWithoutProject: () => void;
  /** Called with each event that a redaction has changed. */
  readonly onRedacted?: (line: number, event: Event) => void;
}

/** Passes lines to a writer as events of `source`, by the same rules as over HTTP. */
export function createStoreSink(writer: EventWriter, source: Source, options: StoreSinkOptions): LineSink {
  const { project, now, filtered, onRejected, onWithoutProject, onRedacted } = options;
  const filter = findFilter(source);
  return {
    add(number, text) {
      try {
        const parsed = parseEvent({ text }, source, { now: now() * MICROS_PER_MS, project });
        const event = filter === undefined ? parsed : filter(parsed, filtered);
        if (event === undefined) return undefined;
        if (event.project === '') onWithoutProject();
        if (event !== parsed) onRedacted?.(number, event);
        return writer.add(event);
      } catch (error) {
        if (!(error instanceof RefusedEvent)) throw error;
        onRejected(number, error.message);
        return undefined;
      }
    },
    reject: (number, reason) => void onRejected(number, reason),
    flush: writer.flush,
    get stored() {
      return writer.stored;
    },
  };
}
