import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';

/** A reply of Redis; texts are bytes. */
type RedisReply = Buffer | string | number | null | readonly RedisReply[];

/** A Redis or Valkey server, which may be unavailable at any time. */
export type Redis = Readonly<ReturnType<typeof openRedis>>;

interface RedisEvents {
  /** Called when the connection is open, for the first time or again. */
  readonly onUp: () => void;
  /** Called when the connection was lost or could not be opened; once until it is back. */
  readonly onDown: (error: unknown) => void;
  /** Called when a command that was sent failed. @param isRejected Redis rejected it; the connection is kept */
  readonly onFailure: (error: unknown, isRejected: boolean) => void;
}

// Far longer than Redis takes, and short enough for a request that then falls back to the engine.
const DEADLINE_MS = 250;
const CONNECT_MS = 1_000;
const RETRY_MS = 1_000;
const COMMANDS_MAX = 10_000;

type Client = ReturnType<typeof create>;

/** Starts to connect and returns; retries once a second until it is closed. @param deadlineMs longest wait for a reply */
export function openRedis(url: string, { onUp, onDown, onFailure }: RedisEvents, deadlineMs = DEADLINE_MS) {
  let current: Client | undefined;
  let isClosed = false;
  let isReportedDown = false;

  async function connect(): Promise<void> {
    if (isClosed) return;
    const client = create(url);
    client.unref(); // a pending command keeps the process alive, an idle connection does not
    client.on('error', (error: unknown) => lose(client, error));
    current = client;
    try {
      await within(CONNECT_MS, client.connect());
    } catch (error) {
      lose(client, error);
      return;
    }
    isReportedDown = false;
    if (current === client) onUp();
  }

  function lose(client: Client, error: unknown): void {
    if (current !== client) return; // its other pending commands fail, too
    current = undefined;
    client.destroy();
    setTimeout(connect, RETRY_MS).unref();
    if (isReportedDown) return;
    isReportedDown = true;
    onDown(error);
  }

  void connect();
  return {
    /** Whether there is a connection. */
    get isUp() {
      return current?.isReady === true;
    },
    /**
     * Sends a command, which must get its reply within the deadline. After a missed deadline the connection is dropped
     * for all callers, so a server that never responds costs one deadline, not one per caller.
     * @returns `undefined` if Redis is unavailable, late, or rejects the command; never throws
     */
    async send(command: readonly (string | Buffer)[]): Promise<RedisReply | undefined> {
      const client = current;
      if (client?.isReady !== true) return undefined;
      try {
        return await within(deadlineMs, client.sendCommand<RedisReply>(command, AS_BYTES));
      } catch (error) {
        const isRejected = error instanceof ErrorReply;
        onFailure(error, isRejected);
        if (!isRejected) lose(client, error);
        return undefined;
      }
    },
    /** Idempotent. */
    close(): void {
      isClosed = true;
      current?.destroy();
      current = undefined;
    },
  };
}

const AS_BYTES = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

function create(url: string) {
  return createClient({
    url,
    // `connect` above retries instead: the client's own strategy would wait for ever for a server that accepts and
    // never responds.
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_MS },
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandsQueueMaxLength: COMMANDS_MAX,
  });
}

/** @throws Error if the promise takes longer */
function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`no reply within ${ms} ms`));
    // If this process was busy, replies that have arrived are read before `late` is called.
    const timer = setTimeout(() => setImmediate(late), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
