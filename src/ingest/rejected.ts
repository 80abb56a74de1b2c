import { LRUCache } from 'lru-cache';
import type { Source } from '../definitions/source.ts';
import type { WireEvent } from './body-format.ts';
import { FILTER_RULES } from './filter/filter.ts';
import { RejectedEvent } from './read-event.ts';
import { OverQuota } from './usage.ts';

// Quoted names and times differ from event to event; `…` stands for them in a pattern.
const VARYING = /"(?:[^"\\]|\\.)*"|\d{4}-\d\d-\d\d[ T][\d:.]+Z?/g;

/** Events of one request that were rejected for one reason; plain data, since it comes from another thread. */
export interface Rejection {
  /** The name of their source; empty if no source accepts them. */
  readonly source: string;
  /** The reason without what is `VARYING`; `reason` is the whole reason of the first of them. */
  readonly pattern: string;
  readonly reason: string;
  count: number;
  /** The start of the first of them as it was received; `undefined` if it must not be kept, or is not a text. */
  readonly sample: string | undefined;
}

interface RejectedWire {
  readonly wire: WireEvent;
  /** `undefined`: none accepts it. */
  readonly source: Source | undefined;
}

export interface Rejections extends PerEvent {
  /** Those that no source accepts included. */
  readonly rejected: number;
  /** By source and reason, at most `KINDS_MAX` of them. */
  readonly rejections: readonly Rejection[];
  /** Whether no event is left, and some were rejected only since their project has spent its quota. */
  readonly isOverQuota: boolean;
}

// As many events as `tailrace load` sends in one request, so that it can report the reason of each.
export const REASONS_MAX = 1_000;
// Kinds of one request: a body with more differs in every event, and its last kinds say nothing new.
const KINDS_MAX = 50;
const SAMPLE_CHARS_MAX = 2_000;
const REASON_CHARS_MAX = 500;

export function createRejections() {
  const rejectedItems: RejectedItem[] = [];
  let rejected = 0;
  let overQuota = 0;
  const kinds = new Map<string, Rejection>();
  // By the whole reason: thousands of events are often rejected for the same one, and a pattern takes longer than the event.
  const seen = new Map<string, Rejection>();

  function findKind(source: string, reason: string, event: RejectedWire): Rejection | undefined {
    const pattern = reason.replaceAll(VARYING, '…');
    const name = `${source}\0${pattern}`;
    const known = kinds.get(name);
    if (known !== undefined || kinds.size >= KINDS_MAX) return known;
    const shown = reason.slice(0, REASON_CHARS_MAX);
    const kind: Rejection = { source, pattern, reason: shown, count: 0, sample: sampleOf(event) };
    kinds.set(name, kind);
    return kind;
  }

  function count(reason: string, event: RejectedWire): void {
    const source = event.source?.name ?? '';
    const whole = `${source}\0${reason}`;
    const kind = seen.get(whole) ?? findKind(source, reason, event);
    if (kind === undefined) return;
    kind.count++;
    if (seen.size < KINDS_MAX) seen.set(whole, kind);
  }

  return {
    /** @throws the error if it is none of an event */
    add(at: number, error: unknown, event: RejectedWire): void {
      if (!(error instanceof RejectedEvent)) throw error;
      const { message: reason } = error;
      rejected++;
      count(reason, event);
      const isOverQuota = error instanceof OverQuota;
      if (isOverQuota) overQuota++;
      if (rejectedItems.length < REASONS_MAX || event.wire.echo !== undefined)
        rejectedItems.push({ at, reason, ...(isOverQuota && { isOverQuota }) });
    },
    finish: (events: number): Rejections => ({
      rejectedItems,
      rejected,
      rejections: [...kinds.values()],
      isOverQuota: overQuota > 0 && rejected === events,
    }),
  };
}

/** No rule has been applied to a rejected event, so one of a source that redacts is not kept at all. */
function sampleOf({ wire, source }: RejectedWire): string | undefined {
  if ('rejected' in wire || (source?.filter?.redact.length ?? 0) > 0) return undefined;
  // A character has at most four bytes.
  if ('line' in wire) return wire.line.toString('utf8', 0, SAMPLE_CHARS_MAX * 4).slice(0, SAMPLE_CHARS_MAX);
  return wire.text.slice(0, SAMPLE_CHARS_MAX);
}

export interface Sender {
  /** Id of its key, or the name of another way to send. */
  readonly keyId: string;
  /** The project that the key pins; `undefined`: any, so nobody knows whose values the events hold. */
  readonly pinnedProject: string | undefined;
}

/** Events that were rejected for one reason, from one key to one source. Times are ms since the epoch. */
export interface RejectedEvents extends Rejection, Sender {
  readonly firstMs: number;
  readonly lastMs: number;
}

// Beyond it the kind that was seen least recently is dropped; about 3 MB with the longest samples.
const LOGGED_KINDS_MAX = 500;

export type RejectedLog = ReturnType<typeof createRejectedLog>;

/** Keeps the events that were rejected since the start, by source, key and reason, with the last sample of each. */
export function createRejectedLog(now: () => number) {
  const kinds = new LRUCache<string, RejectedEvents>({ max: LOGGED_KINDS_MAX });
  return {
    add(rejections: readonly Rejection[], { keyId, pinnedProject }: Sender): void {
      const atMs = now();
      for (const one of rejections) {
        const name = JSON.stringify([one.source, keyId, pinnedProject ?? null, one.pattern]);
        const known = kinds.get(name);
        kinds.set(name, {
          ...one,
          ...{ keyId, pinnedProject },
          count: one.count + (known?.count ?? 0),
          firstMs: known?.firstMs ?? atMs,
          lastMs: atMs,
        });
      }
    },
    /** The kind that was seen last comes first. */
    list: (): RejectedEvents[] => [...kinds.values()],
    /** Forgets the samples and reasons, which may hold values of deleted events. */
    forget(): void {
      kinds.clear();
    },
  };
}

/** What became of events. `withoutProject` and `repaired` (with U+FFFD) are stored; `drop`, `redact`: a rule applied. */
export const COUNTED = ['stored', 'rejected', 'withoutProject', 'repaired', ...FILTER_RULES] as const;

export type EventCounts = Record<(typeof COUNTED)[number], number>;

export const NO_EVENTS: Readonly<EventCounts> = {
  ...{ stored: 0, rejected: 0, withoutProject: 0, repaired: 0, drop: 0, redact: 0 },
};

/** The outcome of a request with events: all that were not rejected are stored. */
export interface Receipt extends Readonly<EventCounts>, PerEvent {
  /** Why events were rejected, each reason once. */
  readonly reasons: readonly string[];
  readonly sources: readonly Source[];
}

/** What is kept of the outcome under an Idempotency-Key. */
export type Received = Omit<Receipt, 'sources' | keyof PerEvent>;

/** What the response to a request says of single events. */
interface PerEvent {
  /** Rejected events, at most `REASONS_MAX` of them, or all if the protocol responds to each event. */
  readonly rejectedItems: readonly RejectedItem[];
  /** What the response says about each event, if the protocol responds to each. */
  readonly echoes?: readonly string[];
}

interface RejectedItem {
  /** Its place among the events of the request, from 0. */
  readonly at: number;
  /** Completes the sentence "event 3 …". */
  readonly reason: string;
  /** Its project has spent its quota: sent again tomorrow, it is stored. */
  readonly isOverQuota?: true;
}

/** The response header with the number of stored events that belong to no project, if there are any. */
export const WITHOUT_PROJECT_HEADER = 'x-events-without-project';

/** The response header with the number of events that `drop` has left out, if there are any. */
export const DROPPED_HEADER = 'x-events-dropped';
