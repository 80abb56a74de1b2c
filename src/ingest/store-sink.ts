import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import { parseEvent, RefusedEvent } from './event.ts';
import type { LineSink } from './load.ts';
import { createEventWriter } from './writer.ts';

export interface StoreSinkOptions {
  /** The project of events that name none. */
  readonly project: string;
  readonly eventBytesMax: number;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly onRejected: (line: number, reason: string) => void;
  /** Called for each event that belongs to no project. */
  readonly onWithoutProject: () => void;
}

/** Stores lines as events of `source`, by the same rules as over HTTP. */
export function createStoreSink(engine: Engine, source: Source, options: StoreSinkOptions): LineSink {
  const writer = createEventWriter(engine, source);
  const { project, eventBytesMax, now, onRejected, onWithoutProject } = options;
  return {
    add(number, text) {
      try {
        const event = parseEvent({ text }, source, { now: now() * MICROS_PER_MS, eventBytesMax, project });
        if (event.project === '') onWithoutProject();
        return writer.add(event);
      } catch (error) {
        if (!(error instanceof RefusedEvent)) throw error;
        onRejected(number, error.message);
        return undefined;
      }
    },
    flush: writer.flush,
    get stored() {
      return writer.stored;
    },
  };
}
