import { createHash } from 'node:crypto';
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';

/** What Redis answers a command with; texts as the bytes that they are. */
export type RedisReply = Buffer | string | number | null | readonly RedisReply[];

/** @throws what Redis refused, or that the connection is gone */
export type SendCommand = (command: readonly (string | Buffer)[]) => Promise<RedisReply>;

/** A Redis or Valkey that may be away at any time. */
export interface Redis {
  /** Whether the connection stands. */
  readonly isUp: boolean;
  /**
   * Asks a question of one command or a few, which has to be answered within the deadline. A Redis that is late is given up at
   * once for everybody, so that one that swallows everything costs a caller one deadline and not each of them.
   *
   * @returns `undefined` where Redis is away, is late, or refuses the command; never throws
   */
  ask<T>(question: (send: SendCommand) => Promise<T>): Promise<T | undefined>;
  /** Idempotent. */
  close(): void;
}

export interface RedisEvents {
  /** The connection stands, for the first time or again. */
  readonly onUp: () => void;
  /** It is gone, or could not be made at the start; told once until it stands again. */
  readonly onAway: (error: unknown) => void;
  /**
   * A question was not answered. Not told while Redis is known to be away: then none is asked.
   *
   * @param isRefusal the connection stands, and Redis said why
   */
  readonly onFailure: (error: unknown, isRefusal: boolean) => void;
}

// Far more than Redis takes, and little enough to be lost on the way to an answer.
const DEADLINE_MS = 250;
const CONNECT_MS = 1_000;
const RETRY_MS = 1_000;
// Of a busy process the time goes by without an answer being looked for: the deadline is over after so many looks.
const LOOKS = 5;
const COMMANDS_MAX = 10_000;

type Client = ReturnType<typeof create>;

/**
 * Begins to connect and returns; it goes on trying for as long as it is open, once a second.
 *
 * @param url `redis://…` or `rediss://…`
 */
export function openRedis(url: string, { onUp, onAway, onFailure }: RedisEvents): Redis {
  let up: Client | undefined;
  let current: Client | undefined;
  let isClosed = false;
  let isToldAway = false;
  let retry: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const client = create(url);
    client.unref(); // what is asked of it keeps the process, the connection alone does not
    current = client;
    client.on('error', (error: unknown) => lose(client, error));
    try {
      await within(CONNECT_MS, client.connect());
      if (current !== client) return; // closed meanwhile
      up = client;
      isToldAway = false;
      onUp();
    } catch (error) {
      lose(client, error);
    }
  }

  function lose(client: Client, error: unknown): void {
    if (current !== client) return; // several commands of one connection fail with it
    drop();
    if (isClosed) return;
    retry = setTimeout(() => void connect(), RETRY_MS).unref();
    if (isToldAway) return;
    isToldAway = true;
    onAway(error);
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
    async ask(question) {
      const client = up;
      if (client === undefined) return undefined;
      try {
        return await within(
          DEADLINE_MS,
          question((command) => client.sendCommand<RedisReply>(command, AS_BYTES)),
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
    // Reconnecting is done above: the client's own would keep commands waiting that nobody waits for any more.
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_MS },
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandsQueueMaxLength: COMMANDS_MAX,
  });
}

/** @throws Error when the promise takes longer; time in which this process is too busy to look for the answer counts little */
function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`no answer within ${ms} ms`));
    let timer: NodeJS.Timeout;
    const wait = (looks: number) => {
      // However late a timer comes, all that has come in is read before the next.
      const next = () => (looks > 1 ? wait(looks - 1) : setImmediate(late));
      timer = setTimeout(next, ms / LOOKS);
    };
    wait(LOOKS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A Lua script, which Redis knows by its hash once it has seen it. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

export function createScript(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Runs a script on keys with arguments. */
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

/** Whether Redis refused a command for this reason, the first word of what it says. */
export function isRefusal(error: unknown, code: string): boolean {
  return error instanceof ErrorReply && error.message.startsWith(code);
}
