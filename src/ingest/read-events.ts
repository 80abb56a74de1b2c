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
  const encoder = createRowEncoder();
  const reasons: string[] = [];
  let [refused, withoutProject] = [0, 0];
  for (const [i, event] of events.entries()) {
    try {
      const parsed = parseEvent(event, source, rules);
      encoder.add(parsed);
      if (parsed.project === '') withoutProject++;
    } catch (error) {
      if (!(error instanceof RefusedEvent)) throw error;
      refused++;
      if (reasons.length < REASONS_MAX) reasons.push(`event ${i + 1}: ${error.message}`);
    }
  }
  return { rows: encoder.take(), good: events.length - refused, withoutProject, refused, reasons };
}
