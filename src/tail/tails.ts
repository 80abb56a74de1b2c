import type { Config } from '../config/config.ts';
import type { Registry } from '../definitions/registry.ts';
import { createSessionPool, keyOfLane, type PoolWork } from '../engine/lanes.ts';
import { TailraceError } from '../errors.ts';
import type { Caller } from '../keys/keyring.ts';
import { untilAborted } from '../lib/abort.ts';
import type { Position } from '../query/position.ts';
import { createGroup, type Group, type GroupParts } from './group.ts';
import { createMember, type EndReason, type Member, type Past, type TailRequest } from './member.ts';

export interface TailsOptions extends GroupParts {
  readonly registry: Pick<Registry, 'endpoints'>;
  readonly limits: Pick<Config, 'tailsMax' | 'tailsPerKeyMax' | 'tailBufferBytesMax'>;
  /** Called when a tail has ended, or its reader has disconnected. */
  readonly onEnded: (reason: EndReason | 'left') => void;
}

// Open tails of this service, and of one key with its tokens, else 429: each holds a connection and its buffer.
const TAILS_MAX = 2_000;
const TAILS_PER_KEY_MAX = 100;
// Events that wait to be read; beyond them the tail ends, and its client continues where it stopped.
const BUFFER_BYTES_MAX = 1024 * 1024;
const RETRY_SECONDS = 10;
// Tails that continue after an id: each holds the rows before the first new one in memory until they are sent.
const RESUMPTIONS_MAX = 8;
const RESUMPTIONS_PER_TOKEN_MAX = 2;
/** A key may hold as many as it leaves free: one key takes four, the next one two of the rest, and so on. */
const RESUMPTIONS: PoolWork = {
  one: 'live tail',
  many: 'live tails that continue after an id',
  mayHold(lane, held, slots) {
    const ofKey = held.filter((other) => keyOfLane(other) === keyOfLane(lane)).length;
    if (ofKey >= slots - held.length) return false;
    const isToken = lane !== keyOfLane(lane);
    return !isToken || held.filter((other) => other === lane).length < RESUMPTIONS_PER_TOKEN_MAX;
  },
};
const QUEUE_TIMEOUT_MS = 5_000; // as long as a query waits for a reader

export type Tails = ReturnType<typeof createTails>;

/** The live tails: those of one question share a group, and so one query a tick. */
export function createTails(options: TailsOptions) {
  const { registry, onEnded } = options;
  const {
    tailsMax = TAILS_MAX,
    tailsPerKeyMax = TAILS_PER_KEY_MAX,
    tailBufferBytesMax: bufferBytesMax = BUFFER_BYTES_MAX,
  } = options.limits;
  const groups = new Map<string, Group>();
  // A fair queue, since rows are in memory as long as a slow reader needs.
  const resumptions = createSessionPool(
    Array.from({ length: RESUMPTIONS_MAX }, (_, i) => i),
    { queueMax: tailsMax, queuePerLaneMax: tailsPerKeyMax, queueTimeoutMs: QUEUE_TIMEOUT_MS },
    RESUMPTIONS,
  );
  let served = registry.endpoints;
  let isClosed = false;

  /** Adds a tail to the group of its question, which it begins if there is none. */
  function add(request: TailRequest) {
    const { key } = request.question;
    const existing = groups.get(key);
    existing?.join(request.lane);
    const group = existing ?? createGroup(options, request);
    groups.set(key, group);
    const { members } = group;
    const member = createMember(request, {
      bufferBytesMax,
      onEnd(reason) {
        members.delete(member);
        onEnded(reason);
        if (members.size > 0) return;
        group.close();
        groups.delete(key);
      },
    });
    members.add(member);
    return { group, member };
  }

  async function readPast(group: Group, position: Position, request: TailRequest): Promise<Past> {
    const slot = await resumptions.acquire(request.signal, { lane: request.lane });
    const release = () => resumptions.release(slot);
    try {
      return { events: await group.readSince(position, request), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Ends the tails of definitions that have changed. Deleted events change no definition. */
  function followDefinitions(): void {
    if (served === registry.endpoints) return;
    served = registry.endpoints;
    for (const member of all()) if (!member.request.isCurrent()) member.end('definition_changed');
  }

  const all = () => [...groups.values()].flatMap(({ members }) => [...members]);

  /** Bounds the tails, of each key and in all. @throws TailraceError `rate_limited` */
  function verifyPlace({ keyId }: Caller): void {
    const open = all();
    const own = open.filter(({ request }) => request.caller.keyId === keyId);
    const message =
      own.length >= tailsPerKeyMax
        ? `this key has ${own.length} live tails open, the most that it may have; end one first`
        : `${open.length} live tails are open, the most of this service; try again later`;
    if (own.length >= tailsPerKeyMax || open.length >= tailsMax)
      throw new TailraceError('rate_limited', message, { retryAfterSeconds: RETRY_SECONDS });
  }

  return {
    get count() {
      return all().length;
    },
    /**
     * Opens a tail. It fails before anything is sent. @throws TailraceError `rate_limited`, `overloaded`; as
     * `Group.readSince`
     */
    async open(request: TailRequest): Promise<Pick<Member, 'start' | 'leave'>> {
      const { caller, position, signal } = request;
      verifyPlace(caller);
      const { group, member } = add(request);
      try {
        await untilAborted(group.ready, signal);
        if (position !== undefined) member.continueAfter(await readPast(group, position, request));
        if (isClosed) member.end('shutdown');
      } catch (error) {
        member.leave();
        if (!member.hasEnded) throw error; // an end stops its queries
      }
      return member;
    },
    /** Sends the rows that came since the last tick. Called a few times a second. */
    tick(): void {
      followDefinitions();
      for (const group of groups.values()) void group.tick();
    },
    keepAlive(): void {
      for (const member of all()) member.keepAlive();
    },
    /** Ends the tails of keys that are no longer accepted. Called about once a second. */
    async checkKeys(): Promise<void> {
      await Promise.all(all().map((member) => member.check()));
    },
    /** Ends every tail, and those that are opened from now on. */
    close(): void {
      isClosed = true;
      for (const member of all()) member.end('shutdown');
    },
  };
}
