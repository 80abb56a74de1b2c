import type { Caller } from '../keys/keyring.ts';
import { type EndReason, endEvent, KEEP_ALIVE } from './event.ts';

/** The target of the events of one tail: a response. */
export interface Sink {
  /** Bytes that the reader has not received yet. */
  readonly waitingBytes: number;
  write(events: Buffer): void;
  /** Writes the last event; nothing is written afterwards. */
  end(event: Buffer, reason: EndReason): void;
  /** Resolves when no bytes wait or the reader has disconnected; with `false` if the reader takes too long. */
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
 * Creates one tail. Events are held until it starts, and then go to the sink. If more bytes than the bound wait for the reader when the
 * next events come, the tail ends, so that its memory is bounded.
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
    // Checked before these are written: even the fastest reader has not received what was just written.
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
    /** Sends the earlier rows as fast as they are read, then the held events, then new ones as they come. */
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
    /** To be called when the reader has disconnected. */
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
    /** Ends the tail if its key has changed. */
    async check(): Promise<void> {
      try {
        if (describeRights(await authenticate()) !== rights) end('key_changed');
      } catch (error) {
        end(reasonOf(error));
      }
    },
  };
}

/** Whether two callers have the same rights; the objects themselves may be new. */
function describeRights({ scopes, endpoints, sources, pins }: Caller): string {
  return JSON.stringify([scopes, endpoints, sources, pins]);
}

function reasonOf(error: unknown): EndReason {
  const { refusal } = error as { refusal?: string };
  if (refusal === undefined) return 'unavailable';
  return refusal === 'expired' ? 'key_expired' : 'key_revoked';
}
