import type { Config } from '../config/config.ts';
import type { Registry } from '../definitions/registry.ts';
import { TailraceError } from '../errors.ts';
import type { Caller } from '../keys/keyring.ts';
import { untilAborted } from '../lib/abort.ts';
import { createGroup, type Followed, type Group, type GroupParts } from './group.ts';
import { createHistory, NO_PAST, type Resumption } from './history.ts';
import { createMember, type EndReason, type Member, type Sink } from './member.ts';

export interface TailsOptions extends GroupParts {
  readonly registry: Pick<Registry, 'endpoints'>;
  readonly limits: Pick<Config, 'tailsMax' | 'tailsPerKeyMax' | 'tailBufferBytesMax'>;
  /** Called when a tail has ended; without a reason its reader has disconnected. */
  readonly onEnded: (reason: EndReason | 'left') => void;
  readonly onFailure: (error: unknown, endpoint: string) => void;
}

/** A request to follow a question. Rows after the position are sent first; without one only new ones are sent. */
export interface TailRequest extends Followed, Resumption {
  /** Whether the definitions still give the caller this question; asked when they have changed. */
  readonly isCurrent: () => boolean;
  readonly caller: Caller;
  readonly authenticate: () => Caller | Promise<Caller>;
}

export interface Tail {
  /** To be called once; the tail writes until it ends. */
  start(sink: Sink): void;
  /** To be called when the reader has disconnected. */
  leave(): void;
}

interface Running {
  readonly group: Group;
  readonly members: Map<Member, TailRequest>;
  readonly ready: Promise<void>;
  isBusy: boolean;
  failures: number;
}

// Open tails of this service, and of one key with its tokens, else 429: each holds a connection and its buffer.
const TAILS_MAX = 2_000;
const TAILS_PER_KEY_MAX = 100;
// Events that wait to be read; beyond them the tail ends, and its client continues where it stopped.
const BUFFER_BYTES_MAX = 1024 * 1024;
// Ten seconds, in which the engine restarts or a server becomes available again.
const FAILURES_MAX = 40;
const RETRY_SECONDS = 10;

export type Tails = ReturnType<typeof createTails>;

/** The live tails: those of one question share a group, and so one query a tick. */
export function createTails(options: TailsOptions) {
  const { registry, onEnded, onFailure } = options;
  const {
    tailsMax = TAILS_MAX,
    tailsPerKeyMax = TAILS_PER_KEY_MAX,
    tailBufferBytesMax: bufferBytesMax = BUFFER_BYTES_MAX,
  } = options.limits;
  const groups = new Map<string, Running>();
  const readPast = createHistory({ queueMax: tailsMax, queuePerLaneMax: tailsPerKeyMax });
  let served = registry.endpoints;
  let isClosed = false;

  function openGroup(request: TailRequest): Running {
    const { key } = request.question;
    const existing = groups.get(key);
    existing?.group.join(request.lane);
    const running = existing ?? startGroup(options, request);
    groups.set(key, running);
    return running;
  }

  function add(running: Running, request: TailRequest): Member {
    const { group, members } = running;
    const { caller, authenticate } = request;
    const member = createMember({
      ...{ caller, authenticate, bufferBytesMax },
      onEnd(reason) {
        members.delete(member);
        onEnded(reason ?? 'left');
        if (members.size > 0) return;
        group.close();
        groups.delete(group.question.key);
      },
    });
    members.set(member, request);
    return member;
  }

  /** Ends the tails of definitions that have changed. Deleted events change no definition. */
  function followDefinitions(): void {
    if (served === registry.endpoints) return;
    served = registry.endpoints;
    for (const { members } of [...groups.values()])
      for (const [member, { isCurrent }] of [...members]) if (!isCurrent()) member.end('definition_changed');
  }

  const all = () => [...groups.values()].flatMap(({ members }) => [...members.keys()]);

  /** Bounds the tails, of each key and in all. @throws TailraceError `rate_limited` */
  function verifyPlace({ keyId }: Caller): void {
    const open = all();
    const own = open.filter(({ caller }) => caller.keyId === keyId);
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
     * Opens a tail. A failure of the first query is thrown here, before anything is sent.
     *
     * @throws TailraceError `rate_limited`, `overloaded`, `invalid_parameter` if the position is too far back; the
     *   failure of the query; the signal's reason when the reader has disconnected
     */
    async open(request: TailRequest): Promise<Tail> {
      verifyPlace(request.caller);
      const running = openGroup(request);
      const member = add(running, request);
      let past = NO_PAST;
      try {
        await untilAborted(running.ready, request.signal);
        past = await readPast(running.group, request);
        if (isClosed) member.end('shutdown');
      } catch (error) {
        member.leave();
        if (!member.hasEnded) throw error; // an end stops its queries
      }
      const { events, release } = past;
      return {
        start: (sink) =>
          void member
            .start(sink, events)
            .catch(() => member.end('unavailable'))
            .finally(release),
        leave() {
          member.leave();
          release();
        },
      };
    },
    /** Sends the rows that came since the last tick. Called a few times a second. */
    tick(): void {
      followDefinitions();
      for (const running of groups.values()) if (!running.isBusy) void tickGroup(running, onFailure);
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
      endAll(all(), 'shutdown');
    },
  };
}

function startGroup(options: TailsOptions, request: TailRequest): Running {
  const members: Running['members'] = new Map();
  const group = createGroup(options, request, createTurns(members, request.lane));
  return { group, members, ready: group.start(), isBusy: false, failures: 0 };
}

/** Returns the lanes of the members in turn. @param first used while there are no members */
function createTurns(members: Running['members'], first: string): () => string {
  let turn = 0;
  return () => [...members.values()][turn++ % members.size]?.lane ?? first;
}

async function tickGroup(running: Running, onFailure: TailsOptions['onFailure']): Promise<void> {
  const { group, members } = running;
  running.isBusy = true;
  try {
    await running.ready;
    const news = await group.tick();
    running.failures = 0;
    if (news === 'cut') endAll(members.keys(), 'too_many_rows');
    else if (news !== undefined) for (const member of [...members.keys()]) member.send(news);
  } catch (error) {
    if (members.size === 0) return; // the last one has left
    onFailure(error, group.question.endpoint.name);
    if (++running.failures >= FAILURES_MAX) endAll(members.keys(), 'unavailable');
  } finally {
    running.isBusy = false;
  }
}

function endAll(members: Iterable<Member>, reason: EndReason): void {
  for (const member of [...members]) member.end(reason);
}
