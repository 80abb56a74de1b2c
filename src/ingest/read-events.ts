import { setImmediate } from 'node:timers/promises';
import type { Source } from '../definitions/source.ts';
import type { WireEvent } from './decode-body.ts';
import { type EventRules, parseEvent, RefusedEvent } from './event.ts';
import { createRowEncoder, type DayRows } from './rows.ts';

/** What the events of a body come to. */
export interface ReadEvents {
  readonly rows: readonly DayRows[];
  /** Events in `rows`. */
  readonly good: number;
  /** Of those, the ones that belong to no project. */
  readonly withoutProject: number;
  readonly refused: number;
  /** `event 3 is not a JSON object`, at most `REASONS_MAX` of them; events count from 1. */
  readonly reasons: readonly string[];
}

// As many as `tailrace load --url` sends events in one request, so that it can tell the reason of each.
const REASONS_MAX = 1_000;

/** Reads events by the rules of docs/ingest.md: the good ones become rows, each other one a reason. */
export function readEvents(events: readonly WireEvent[], source: Source, rules: EventRules): ReadEvents {
  const reading = createReading(source, rules);
  for (const event of events) reading.add(event);
  return reading.take();
}

// Other requests are answered in between.
const SLICE_MS = 2;

/** The same on the thread that answers requests, which others have the use of every few milliseconds. */
export async function readEventsInSlices(
  events: readonly WireEvent[],
  source: Source,
  rules: EventRules,
): Promise<ReadEvents> {
  const reading = createReading(source, rules);
  let endMs = performance.now() + SLICE_MS;
  for (const event of events) {
    reading.add(event);
    if (performance.now() < endMs) continue;
    await setImmediate();
    endMs = performance.now() + SLICE_MS;
  }
  return reading.take();
}

function createReading(source: Source, rules: EventRules) {
  const encoder = createRowEncoder();
  const reasons: string[] = [];
  let count = 0;
  let refused = 0;
  let withoutProject = 0;
  return {
    add(event: WireEvent): void {
      count++;
      try {
        const parsed = parseEvent(event, source, rules);
        encoder.add(parsed);
        if (parsed.project === '') withoutProject++;
      } catch (error) {
        if (!(error instanceof RefusedEvent)) throw error;
        refused++;
        if (reasons.length < REASONS_MAX) reasons.push(`event ${count}: ${error.message}`);
      }
    },
    take: (): ReadEvents => ({
      rows: encoder.take(),
      good: count - refused,
      withoutProject,
      refused,
      reasons,
    }),
  };
}
