import type { Source } from '../../definitions/source.ts';
import type { WireEvent } from '../body-format.ts';
import { toPattern } from './reason.ts';

/** Events of one request that were rejected for one reason; plain data, since it comes from another thread. */
export interface Rejection {
  /** The name of their source; empty if no source accepts them. */
  readonly source: string;
  /** The reason without what differs from event to event. */
  readonly pattern: string;
  /** The whole reason of the first of them. */
  readonly reason: string;
  readonly count: number;
  /** The start of the first of them as it was received; `undefined` if it must not be kept, or is not a text. */
  readonly sample: string | undefined;
}

export interface RejectedEvent {
  readonly wire: WireEvent;
  /** `undefined`: none accepts it. */
  readonly source: Source | undefined;
}

// Kinds of one request: a body with more differs in every event, and its last kinds say nothing new.
const KINDS_MAX = 50;
/** A longer event is cut. */
const SAMPLE_CHARS_MAX = 2_000;
const REASON_CHARS_MAX = 500;

type Kind = { -readonly [name in keyof Rejection]: Rejection[name] };

/** Collects the rejected events of a request by source and reason. */
export function createRejections() {
  const kinds = new Map<string, Kind>();
  // By the whole reason: thousands of events are often rejected for the same one, and a pattern takes longer than the event.
  const seen = new Map<Source | undefined, Map<string, Kind>>();

  function findKind(reason: string, { wire, source }: RejectedEvent): Kind | undefined {
    const pattern = toPattern(reason);
    const name = `${source?.name ?? ''}\0${pattern}`;
    const known = kinds.get(name);
    if (known !== undefined || kinds.size >= KINDS_MAX) return known;
    const kind: Kind = {
      source: source?.name ?? '',
      pattern,
      reason: reason.slice(0, REASON_CHARS_MAX),
      count: 0,
      sample: sampleOf({ wire, source }),
    };
    kinds.set(name, kind);
    return kind;
  }

  return {
    add(reason: string, event: RejectedEvent): void {
      const ofSource = seen.get(event.source) ?? new Map<string, Kind>();
      seen.set(event.source, ofSource);
      const kind = ofSource.get(reason) ?? findKind(reason, event);
      if (kind === undefined) return;
      kind.count++;
      if (ofSource.size < KINDS_MAX) ofSource.set(reason, kind);
    },
    finish: (): Rejection[] => [...kinds.values()],
  };
}

/** No rule has been applied to a rejected event, so one of a source that redacts is not kept at all. */
function sampleOf({ wire, source }: RejectedEvent): string | undefined {
  if ('refused' in wire || (source?.filter?.redact.length ?? 0) > 0) return undefined;
  // A character has at most four bytes.
  if ('line' in wire) return wire.line.toString('utf8', 0, SAMPLE_CHARS_MAX * 4).slice(0, SAMPLE_CHARS_MAX);
  return wire.text.slice(0, SAMPLE_CHARS_MAX);
}
