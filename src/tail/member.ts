import type { Caller } from '../keys/keyring.ts';
import type { Micros } from '../lib/instant.ts';
import type { Position } from '../query/position.ts';
import type { Question } from '../query/question.ts';

/** A request to follow a question. Rows after the position are sent first; without one only new ones are sent. */
export interface TailRequest {
  /** The question of the first page, in NDJSON. */
  readonly question: Question;
  /** Time before the present in which a tick looks for rows; `undefined`: the whole range of the question. */
  readonly window?: Micros | undefined;
  readonly position: Position | undefined;
  /** Whether the definitions still give the caller this question; asked when they have changed. */
  readonly isCurrent: () => boolean;
  readonly caller: Caller;
  /** Checks the caller's key again. Rejects as `Keyring.authenticate`. */
  readonly authenticate: () => Caller | Promise<Caller>;
  readonly lane: string;
  /** Aborts when the reader has disconnected. */
  readonly signal: AbortSignal;
}

/** The rows after a position, oldest first, as events. They are in memory until `release`. */
export interface Past {
  readonly events: Iterable<Buffer>;
  /** To be called once. */
  readonly release: () => void;
}

const NO_PAST: Past = { events: [], release() {} };

/** The target of the events of one tail: a response. */
export interface Sink {
  /** Bytes that the reader has not received yet. */
  readonly waitingBytes: number;
  write(events: Buffer): void;
  /** Writes the last event; nothing is written afterwards. */
  end(event: Buffer): void;
  /** Resolves when no bytes wait or the reader has disconnected; with `false` if the reader takes too long. */
  drained(): Promise<boolean>;
}

interface MemberOptions {
  readonly bufferBytesMax: number;
  readonly onEnd: (reason: EndReason | 'left') => void;
}

export type Member = ReturnType<typeof createMember>;

/**
 * Creates one tail. Events are held until it starts, and then go to the sink. If more bytes than the bound wait for the
 * reader when the next events come, the tail ends, so that its memory is bounded.
 */
export function createMember(request: TailRequest, { bufferBytesMax, onEnd }: MemberOptions) {
  const rights = describeRights(request.caller);
  let sink: Sink | undefined;
  let held: Buffer[] | undefined = [];
  let heldBytes = 0;
  let ended: EndReason | 'left' | undefined;
  let past = NO_PAST;

  function end(reason: EndReason | 'left'): void {
    if (ended !== undefined) return;
    ended = reason;
    if (reason !== 'left') sink?.end(endEvent(reason));
    held = undefined;
    onEnd(reason);
  }

  function releasePast(): void {
    past.release();
    past = NO_PAST;
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

  /** Sends the earlier rows as fast as they are read, then the held events, then new ones as they come. */
  async function run(to: Sink): Promise<void> {
    sink = to;
    if (ended !== undefined && ended !== 'left') return to.end(endEvent(ended));
    for (const events of past.events) {
      if (ended !== undefined) return;
      to.write(events);
      if (to.waitingBytes > 0 && !(await to.drained())) return end('slow_reader');
    }
    const rest = held ?? [];
    held = undefined;
    heldBytes = 0;
    for (const events of rest) send(events);
  }

  return {
    request,
    send,
    end,
    /** Whether it has ended with a reason, which its reader gets when it starts. */
    get hasEnded() {
      return ended !== undefined && ended !== 'left';
    },
    /** Adds the rows that it sends first. */
    continueAfter(earlier: Past): void {
      past = earlier;
    },
    /** To be called once; the tail writes until it ends. */
    start: (to: Sink) =>
      void run(to)
        .catch(() => end('unavailable'))
        .finally(releasePast),
    /** To be called when the reader has disconnected. */
    leave(): void {
      releasePast();
      end('left');
    },
    /** Shows proxies that the connection is alive. */
    keepAlive(): void {
      if (ended === undefined && held === undefined && sink?.waitingBytes === 0) sink.write(KEEP_ALIVE);
    },
    /** Ends the tail if its key has changed. */
    async check(): Promise<void> {
      try {
        if (describeRights(await request.authenticate()) !== rights) end('key_changed');
      } catch (error) {
        end(reasonOf(error));
      }
    },
  };
}

/** Returns a text by which the rights of callers are compared; the objects themselves may be new. */
function describeRights({ scopes, endpoints, sources, pins }: Caller): string {
  return JSON.stringify([scopes, endpoints, sources, pins]);
}

function reasonOf(error: unknown): EndReason {
  const { rejectReason } = error as { rejectReason?: string };
  if (rejectReason === undefined) return 'unavailable';
  return rejectReason === 'expired' ? 'key_expired' : 'key_revoked';
}

/** The reasons why a tail ends, and what the caller can do. Sent in the last event. */
const END_REASONS = {
  key_revoked: 'the key is no longer accepted',
  key_expired: 'the key or token has expired',
  key_changed: 'the rights of the key have changed; connect again',
  definition_changed: 'the definition of the endpoint has changed; connect again without a cursor',
  slow_reader: 'the events are read too slowly; connect again with the last id',
  too_many_rows:
    'more rows came at once than a tail can read; connect again, and read the rows in between page by page',
  unavailable: 'the engine or the store of keys is unavailable; connect again with the last id',
  shutdown: 'the service is shutting down; connect again with the last id',
} as const;

export type EndReason = keyof typeof END_REASONS;

const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');

const ROW_END = Buffer.from('\n\n');

/** Returns the event of a row. @param row JSON on one line @returns pieces to be joined */
export function rowEvent(cursor: string, row: Buffer): Buffer[] {
  return [Buffer.from(`event: row\nid: ${cursor}\ndata: `), row, ROW_END];
}

/** Returns the last event of a tail. */
function endEvent(reason: EndReason): Buffer {
  return Buffer.from(`event: end\ndata: ${JSON.stringify({ reason, message: END_REASONS[reason] })}\n\n`);
}
