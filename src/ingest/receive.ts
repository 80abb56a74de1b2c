import type { Source } from '../definitions/source.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import { createSlices, type Slices } from '../lib/slices.ts';
import type { Committer } from './committer.ts';
import type { WireEvent } from './decode-body.ts';
import { type Event, type EventRules, parseEvent, RefusedEvent } from './event.ts';

/** What came of a request's events: all that were not refused are stored. */
export interface Received {
  readonly stored: number;
  /** `event 3 is not a JSON object`, at most `REASONS_MAX` of them; events count from 1. */
  readonly reasons: readonly string[];
  readonly refused: number;
}

export type Receive = (
  source: Source,
  events: readonly WireEvent[],
  options: ReceiveOptions,
) => Promise<Received>;

export interface ReceiveOptions {
  /** Whose an event is that does not say so itself. */
  readonly project: string;
  /** See `Committer.commit`. */
  readonly token?: string | undefined;
}

export interface ReceiverOptions {
  readonly committer: Committer;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly eventBytesMax: number;
  readonly onRefused: (source: string, count: number) => void;
}

// As many as `tailrace load --url` sends events in one request, so that it can tell the reason of each.
const REASONS_MAX = 1_000;
// A batch of 1,000 events is some 20 ms of work. Answers from the cache, which take less than one, come in between.
const SLICE_MS = 4;

/** Reads the events of one request by the rules of docs/ingest.md and stores the good ones before it resolves. */
export function createReceiver({ committer, now, eventBytesMax, onRefused }: ReceiverOptions): Receive {
  const slices = createSlices(SLICE_MS, () => performance.now());
  return async (source, wires, { project, token }) => {
    const rules: EventRules = { now: now() * MICROS_PER_MS, eventBytesMax, project };
    const { events, reasons, refused } = await readEvents(slices, wires, (wire) =>
      parseEvent(wire, source, rules),
    );
    if (refused > 0) onRefused(source.name, refused);
    if (events.length > 0) await committer.commit(source, events, token);
    return { stored: events.length, reasons, refused };
  };
}

async function readEvents(
  slices: Slices,
  wires: readonly WireEvent[],
  parse: (wire: WireEvent) => Event,
): Promise<{ events: Event[]; reasons: string[]; refused: number }> {
  const events: Event[] = [];
  const reasons: string[] = [];
  let refused = 0;
  await slices.forEach(wires, (wire, i) => {
    try {
      events.push(parse(wire));
    } catch (error) {
      if (!(error instanceof RefusedEvent)) throw error;
      refused++;
      if (reasons.length < REASONS_MAX) reasons.push(`event ${i + 1}: ${error.message}`);
    }
  });
  return { events, reasons, refused };
}
