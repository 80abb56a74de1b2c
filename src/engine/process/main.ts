// The engine process: the only one that loads the engine. Its only state is the sessions, so the service can
// kill it at any moment and start another.
import { flushCompileCache } from 'node:module';
import { Socket } from 'node:net';
import chdb, { type ChdbResult, drainPending, Session } from 'chdb';
import { writeValue } from '../../sql/sql.ts';
import { type ArrowColumn, toArrow } from '../row-block.ts';
import {
  type EngineReply,
  type EngineRequest,
  FIRST_SOCKET,
  type Frame,
  type InsertRequest,
  readFrames,
  writeFrame,
} from './channel.ts';

/** Ends the process at once: exit() would wait for the engine's threads, and so for a query that cannot be stopped. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

function serve(fd: number): void {
  const socket = new Socket({ fd, readable: true, writable: true });
  const answer = createSessionHost();
  // The service has ended, cleanly or not. The store must be free for the next one.
  socket.on('close', end).on('error', end);
  let last: Promise<void> = Promise.resolve();
  const send = (reply: EngineReply, bytes?: Uint8Array) => writeFrame(socket, reply, bytes);
  const onRequest = async ({ head, payload }: Frame<EngineRequest>) => {
    const endMeter = startMeter();
    try {
      const { bytes, elapsedMs = 0, rows = 0 } = await answer(head, payload);
      send({ state: 'done', elapsedMs, coreMs: endMeter(), rows }, bytes);
    } catch (error) {
      endMeter();
      send(toFailure(error));
    }
  };
  readFrames<EngineRequest>(
    socket,
    (request) => {
      last = last.then(() => onRequest(request));
    },
    end,
  );
}

function toFailure(error: unknown): EngineReply {
  const code = (error as { clickhouseCode?: unknown } | null)?.clickhouseCode;
  const message = error instanceof Error ? error.message : String(error);
  return { state: 'failed', message, ...(typeof code === 'number' && { code }) };
}

interface Outcome {
  readonly bytes?: Uint8Array;
  readonly elapsedMs?: number;
  readonly rows?: number;
}

/** Handles the requests of one session, one after another. Errors are the engine's own. */
function createSessionHost(): (request: EngineRequest, payload: Buffer) => Promise<Outcome> {
  let session: Session | undefined;
  // The last statement has failed or was stopped.
  let isDirty = false;

  /**
   * Lets `run` send one statement. chDB keeps what a failed or stopped statement had already written, and would prepend
   * it to the session's next answer, which may be another caller's. So the session is emptied after each failure, and if
   * that fails, before the next statement.
   */
  async function keepEmpty<T>(run: (session: Session) => Promise<T>): Promise<T> {
    if (session === undefined) throw new Error('the session has not been opened');
    if (isDirty) await empty(session);
    isDirty = true;
    try {
      const result = await run(session);
      isDirty = false;
      return result;
    } catch (error) {
      await empty(session).catch(() => {}); // tried again before the next statement
      throw error;
    }
  }

  async function empty(open: Session): Promise<void> {
    await open.queryAsync('SELECT 1', { format: 'Null' });
    isDirty = false;
  }

  return async (request, payload) => {
    switch (request.op) {
      case 'open':
        session = new Session(request.path, { connectionArgs: request.connectionArgs });
        letCrashesEnd();
        for (const statement of request.statements) await session.queryAsync(statement);
        return {};
      case 'query': {
        const { format } = request;
        const result = await keepEmpty((open) => open.queryAsync(payload.toString(), { format }));
        return { bytes: result.bytes(), elapsedMs: result.elapsed * 1000, rows: result.rowsRead };
      }
      case 'insert': {
        const { elapsed } = await keepEmpty((open) => insert(open, request, payload));
        return { elapsedMs: elapsed * 1000 };
      }
      case 'memory':
        return { bytes: Buffer.from(String(process.memoryUsage.rss())) };
      case 'close':
        session?.close();
        session = undefined;
        await drainPending();
        return {};
    }
  };
}

const CRASHES = ['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGABRT'] as const;

/**
 * Lets a crash end the process at once. Opening a session installs the engine's own handler, which waits minutes for a crash
 * report that is never written here. Removing the last listener of a signal restores the system's action.
 */
function letCrashesEnd(): void {
  const listener = () => {};
  for (const signal of CRASHES) process.on(signal, listener).off(signal, listener);
}

/**
 * What chDB's builder for Arrow tables calls; the builder itself takes JavaScript's strings, one by one. Not in its
 * types.
 */
const arrowTables = chdb as unknown as {
  /**
   * Gives columns a name on a connection. Their buffers are read in place, and must not change until the name is
   * removed.
   */
  _arrowRegisterColumns(connection: unknown, name: string, columns: readonly ArrowColumn[]): void;
  _arrowUnregister(connection: unknown, name: string): void;
};

let lastTable = 0;

/** Inserts rows. Blocks are not parsed: the engine reads their columns in this process's memory. */
async function insert(
  session: Session,
  request: InsertRequest,
  rows: Buffer,
): Promise<Pick<ChdbResult, 'elapsed'>> {
  const { table, token } = request;
  const settings = { deduplicate_insert: 'enable', insert_deduplication_token: token };
  if (request.format !== 'blocks') {
    const { columns, format } = request;
    return await session.insert({ table, columns, format, settings, values: rows });
  }
  const name = `blocks_${++lastTable}`;
  const names = request.columns.map((column) => `\`${column.name}\``).join(', ');
  const set = Object.entries(settings).map(([setting, value]) => `${setting} = ${writeValue(value)}`);
  arrowTables._arrowRegisterColumns(session.connection, name, toArrow(rows, request.columns));
  try {
    const sql = `INSERT INTO ${table} (${names}) SETTINGS ${set.join(', ')} SELECT ${names} FROM arrowstream('${name}')`;
    return await session.queryAsync(sql, { format: 'Null' });
  } finally {
    arrowTables._arrowUnregister(session.connection, name);
  }
}

// The requests that run, on all sessions, with the core time of each.
const metered = new Set<{ micros: number }>();
let lastMicros = 0;

/**
 * Divides the core time of the process evenly among the requests that run, anew whenever one begins or ends: the
 * engine does not count it by request. Core time of merges, while no request runs, is given to nobody.
 */
function divideCoreTime(): void {
  const { user, system } = process.cpuUsage();
  for (const request of metered) request.micros += (user + system - lastMicros) / metered.size;
  lastMicros = user + system;
}

/** Measures the core time of one request. @returns ends it; returns ms */
function startMeter(): () => number {
  divideCoreTime();
  const request = { micros: 0 };
  metered.add(request);
  return () => {
    divideCoreTime();
    metered.delete(request);
    return request.micros / 1000;
  };
}

// A terminal sends these to its whole process group; the service decides when the engine ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const sockets = Number(process.argv[2]);
for (let i = 0; i < sockets; i++) serve(FIRST_SOCKET + i);
flushCompileCache(); // a signal ends the process before Node would write the cache
