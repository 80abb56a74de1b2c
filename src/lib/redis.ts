import { createHash } from 'node:crypto';
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';

/** A reply of Redis; texts are bytes. */
export type RedisReply = Buffer | string | number | null | readonly RedisReply[];

/** @throws if Redis rejects the command, or the connection is lost */
export type SendCommand = (command: readonly (string | Buffer)[]) => Promise<RedisReply>;

/** A Redis or Valkey server, which may be unavailable at any time. */
export interface Redis {
  /** Whether there is a connection. */
  readonly isUp: boolean;
  /**
   * Sends one or a few commands, which must get their replies within the deadline. After a missed deadline the connection is dropped for
   * all callers, so a server that never responds costs one deadline, not one per caller.
   *
   * @returns `undefined` if Redis is unavailable, late, or rejects a command; never throws
   */
  run<T>(commands: (send: SendCommand) => Promise<T>): Promise<T | undefined>;
  /** Idempotent. */
  close(): void;
}

export interface RedisEvents {
  /** Called when the connection is open, for the first time or again. */
  readonly onUp: () => void;
  /** Called when the connection was lost or could not be opened; once until it is back. */
  readonly onDown: (error: unknown) => void;
  /**
   * Called when commands failed. Not called without a connection: then none are sent.
   *
   * @param isRefusal Redis rejected a command; the connection is kept
   */
  readonly onFailure: (error: unknown, isRefusal: boolean) => void;
}

// Far longer than Redis takes, and short enough for a request that then falls back to the engine.
const DEADLINE_MS = 250;
const CONNECT_MS = 1_000;
const RETRY_MS = 1_000;
// A busy process does not read replies while time passes, so a deadline is split into so many timers.
const DEADLINE_TIMERS = 5;
const COMMANDS_MAX = 10_000;

type Client = ReturnType<typeof create>;

/**
 * Starts to connect and returns; retries once a second until it is closed.
 *
 * @param url `redis://…` or `rediss://…`
 * @param deadlineMs longest wait for the replies to commands
 */
export function openRedis(
  url: string,
  { onUp, onDown, onFailure }: RedisEvents,
  deadlineMs = DEADLINE_MS,
): Redis {
  let up: Client | undefined;
  let current: Client | undefined;
  let isClosed = false;
  let isReportedDown = false;
  let retry: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const client = create(url);
    client.unref(); // a pending command keeps the process alive, an idle connection does not
    current = client;
    client.on('error', (error: unknown) => lose(client, error));
    try {
      await within(CONNECT_MS, client.connect());
      if (current !== client) return; // closed meanwhile
      up = client;
      isReportedDown = false;
      onUp();
    } catch (error) {
      lose(client, error);
    }
  }

  function lose(client: Client, error: unknown): void {
    if (current !== client) return; // its other pending commands fail, too
    drop();
    if (isClosed) return;
    retry = setTimeout(() => void connect(), RETRY_MS).unref();
    if (isReportedDown) return;
    isReportedDown = true;
    onDown(error);
  }

  function drop(): void {
    const client = current;
    up = undefined;
    current = undefined;
    if (client?.isOpen === true) client.destroy();
  }

  void connect();
  return {
    get isUp() {
      return up !== undefined;
    },
    async run(commands) {
      const client = up;
      if (client === undefined) return undefined;
      try {
        return await within(
          deadlineMs,
          commands((command) => client.sendCommand<RedisReply>(command, AS_BYTES)),
        );
      } catch (error) {
        const isRefusal = error instanceof ErrorReply;
        onFailure(error, isRefusal);
        if (!isRefusal) lose(client, error);
        return undefined;
      }
    },
    close() {
      isClosed = true;
      clearTimeout(retry);
      drop();
    },
  };
}

const AS_BYTES = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

function create(url: string) {
  return createClient({
    url,
    // `connect` above retries instead: the client's own strategy would queue commands beyond their deadline.
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_MS },
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandsQueueMaxLength: COMMANDS_MAX,
  });
}

/** @throws Error if the promise takes longer; time in which this process is too busy to read replies hardly counts */
function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`no reply within ${ms} ms`));
    let timer: NodeJS.Timeout;
    const wait = (timers: number) => {
      // However late a timer fires, all replies that have arrived are read before the next one.
      const next = () => (timers > 1 ? wait(timers - 1) : setImmediate(late));
      timer = setTimeout(next, ms / DEADLINE_TIMERS);
    };
    wait(DEADLINE_TIMERS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A Lua script and the hash under which Redis caches it. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

export function createScript(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

export async function runScript(
  send: SendCommand,
  { text, sha1 }: RedisScript,
  { keys, args }: { keys: readonly string[]; args: readonly (string | Buffer)[] },
): Promise<RedisReply> {
  const rest = [String(keys.length), ...keys, ...args];
  try {
    return await send(['EVALSHA', sha1, ...rest]);
  } catch (error) {
    if (!isRefusal(error, 'NOSCRIPT')) throw error;
    return await send(['EVAL', text, ...rest]);
  }
}

/** Whether Redis rejected a command with this code, the first word of its message. */
export function isRefusal(error: unknown, code: string): boolean {
  return error instanceof ErrorReply && error.message.startsWith(code);
}
