import type { Caller } from '../keys/keyring.ts';
import { type EndReason, endEvent, KEEP_ALIVE } from './event.ts';

/** Where the events of one tail go: a response. */
export interface Sink {
  /** Bytes that the reader has not taken yet. */
  readonly waitingBytes: number;
  write(events: Buffer): void;
  /** Writes the last event; nothing is written afterwards. */
  end(event: Buffer, reason: EndReason): void;
  /** Resolves when no bytes wait or the reader has gone; with `false` if the reader takes too long. */
  drained(): Promise<boolean>;
}

export interface MemberOptions {
  readonly caller: Caller;
  /** Checks the caller's key again. Rejects as `Keyring.authenticate`. */
  readonly authenticate: () => Caller | Promise<Caller>;
  readonly bufferBytesMax: number;
  readonly onEnd: (reason: EndReason | undefined) => void;
}

export type Member = ReturnType<typeof createMember>;

/**
 * One tail. Events are held until it starts, and then go to the sink; a reader that leaves more than the bound waiting is ended when
 * the next events come, so that the memory of a tail is bounded.
 */
export function createMember({ caller, authenticate, bufferBytesMax, onEnd }: MemberOptions) {
  const rights = describeRights(caller);
  let sink: Sink | undefined;
  let held: Buffer[] | undefined = [];
  let heldBytes = 0;
  let ended: EndReason | 'left' | undefined;

  function end(reason: EndReason): void {
    if (ended !== undefined) return;
    ended = reason;
    sink?.end(endEvent(reason), reason);
    held = undefined;
    onEnd(reason);
  }

  /** @param events shared by all tails of the question */
  function send(events: Buffer): void {
    if (ended !== undefined) return;
    // Before these: even the quickest reader has not taken what was only just written.
    if (heldBytes + (sink?.waitingBytes ?? 0) > bufferBytesMax) end('slow_reader');
    else if (held === undefined) sink?.write(events);
    else {
      held.push(events);
      heldBytes += events.length;
    }
  }

  return {
    caller,
    send,
    end,
    /** Whether it has ended with a reason, which its reader gets when it starts. */
    get hasEnded() {
      return ended !== undefined && ended !== 'left';
    },
    /** Sends what was before, as fast as it is read, then what was held, and from then on what comes. */
    async start(to: Sink, before: Iterable<Buffer>): Promise<void> {
      sink = to;
      if (ended !== undefined && ended !== 'left') return to.end(endEvent(ended), ended);
      for (const events of before) {
        if (ended !== undefined) return;
        to.write(events);
        if (to.waitingBytes > 0 && !(await to.drained())) return end('slow_reader');
      }
      const rest = held ?? [];
      held = undefined;
      heldBytes = 0;
      for (const events of rest) send(events);
    },
    /** The reader has gone. */
    leave(): void {
      if (ended !== undefined) return;
      ended = 'left';
      held = undefined;
      onEnd(undefined);
    },
    /** Shows proxies that the connection is alive. */
    keepAlive(): void {
      if (ended === undefined && held === undefined && sink?.waitingBytes === 0) sink.write(KEEP_ALIVE);
    },
    /** Ends the tail if its key is not what it was. */
    async check(): Promise<void> {
      try {
        if (describeRights(await authenticate()) !== rights) end('key_changed');
      } catch (error) {
        end(reasonOf(error));
      }
    },
  };
}

/** What a tail rests on; the objects themselves may be new ones. */
function describeRights({ scopes, endpoints, sources, pins }: Caller): string {
  return JSON.stringify([scopes, endpoints, sources, pins]);
}

function reasonOf(error: unknown): EndReason {
  const { refusal } = error as { refusal?: string };
  if (refusal === undefined) return 'unavailable';
  return refusal === 'expired' ? 'key_expired' : 'key_revoked';
}
