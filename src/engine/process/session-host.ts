import chdb, { type ChdbResult, drainPending, Session } from 'chdb';
import { writeValue } from '../../sql/sql.ts';
import { type ArrowColumn, toArrow } from './arrow.ts';
import type { EngineRequest } from './channel.ts';

type Outcome = {
  readonly bytes: Uint8Array;
  readonly elapsedMs: number;
  readonly coreMs: number;
  readonly rows: number;
};

const NOTHING: Outcome = { bytes: new Uint8Array(), elapsedMs: 0, coreMs: 0, rows: 0 };

// Of all sessions.
const startMeter = createCoreMeter(() => {
  const { user, system } = process.cpuUsage();
  return user + system;
});
const CRASHES = ['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGABRT'] as const;

/**
 * Lets a crash end the process at once. Opening a session installs the engine's own handler, which waits minutes for a crash
 * report that is never written here. Removing the last listener of a signal restores the system's action.
 */
function letCrashesEnd(): void {
  const listener = () => {};
  for (const signal of CRASHES) process.on(signal, listener).off(signal, listener);
}

/** Handles the requests of one session, one after another. Errors are the engine's own. */
export function createSessionHost(): (request: EngineRequest, payload: Buffer) => Promise<Outcome> {
  let session: Session | undefined;

  async function open({ path, connectionArgs, statements }: EngineRequest & { op: 'open' }): Promise<void> {
    const next = new Session(path, { connectionArgs });
    try {
      letCrashesEnd();
      for (const statement of statements) await next.queryAsync(statement);
    } catch (error) {
      next.close();
      throw error;
    }
    session?.close();
    session = next;
  }

  function current(): Session {
    if (session === undefined) throw new Error('the session has not been opened');
    return session;
  }

  async function handle(request: EngineRequest, payload: Buffer): Promise<Outcome> {
    switch (request.op) {
      case 'open':
        await open(request);
        return NOTHING;
      case 'query': {
        const result = await runStatement(current(), payload.toString(), request.format);
        return { ...NOTHING, bytes: result.bytes(), elapsedMs: result.elapsed * 1000, rows: result.rowsRead };
      }
      case 'insert': {
        const { op: _, ...rows } = request;
        const session = current();
        const { elapsed } = await keepEmpty(session, () => session.insert({ ...rows, values: payload }));
        return { ...NOTHING, elapsedMs: elapsed * 1000 };
      }
      case 'insertBlocks':
        return await insertBlocks(current(), request, payload);
      case 'memory':
        return { ...NOTHING, bytes: Buffer.from(String(process.memoryUsage.rss())) };
      case 'close':
        session?.close();
        session = undefined;
        await drainPending();
        return NOTHING;
    }
  }

  return async (request, payload) => {
    const stop = startMeter();
    let coreMs = 0;
    const outcome = await handle(request, payload).finally(() => {
      coreMs = stop();
    });
    return { ...outcome, coreMs };
  };
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

/** Inserts blocks of rows without parsing: the engine reads their columns in this process's memory. */
async function insertBlocks(
  session: Session,
  { table, columns, settings }: EngineRequest & { op: 'insertBlocks' },
  blocks: Buffer,
): Promise<Outcome> {
  const name = `blocks_${++lastTable}`;
  const names = columns.map((column) => `\`${column.name}\``).join(', ');
  const set = Object.entries(settings).map(([setting, value]) => `${setting} = ${writeValue(value)}`);
  arrowTables._arrowRegisterColumns(session.connection, name, toArrow(blocks, columns));
  try {
    const sql = `INSERT INTO ${table} (${names}) SETTINGS ${set.join(', ')} SELECT ${names} FROM arrowstream('${name}')`;
    const { elapsed } = await runStatement(session, sql, 'Null');
    return { ...NOTHING, elapsedMs: elapsed * 1000 };
  } finally {
    arrowTables._arrowUnregister(session.connection, name);
  }
}

// Sessions with a last statement that failed or was stopped.
const dirty = new WeakSet<Session>();

/** Runs one statement on a session. */
export function runStatement(session: Session, sql: string, format: string): Promise<ChdbResult> {
  return keepEmpty(session, () => session.queryAsync(sql, { format }));
}

/**
 * Lets `run` send one statement to a session. chDB keeps what a failed or stopped statement had already written, and
 * would prepend it to the session's next answer, which may be another caller's. So the session is emptied after each
 * failure, and if that fails, before the next statement.
 */
async function keepEmpty<T>(session: Session, run: () => Promise<T>): Promise<T> {
  if (dirty.has(session)) await empty(session);
  dirty.add(session);
  try {
    const result = await run();
    dirty.delete(session);
    return result;
  } catch (error) {
    await empty(session).catch(() => {}); // tried again before the next statement
    throw error;
  }
}

async function empty(session: Session): Promise<void> {
  await session.queryAsync('SELECT 1', { format: 'Null' });
  dirty.delete(session);
}

/** Measures the core time of one statement. @returns ends it; returns ms */
type StartMeter = () => () => number;

/**
 * Divides the core time of the process evenly among the statements that run, anew whenever one begins or ends: the
 * engine counts none of its own. Time in which none runs, such as that of merges, is nobody's.
 *
 * @param readMicros core time of the process so far
 */
function createCoreMeter(readMicros: () => number): StartMeter {
  const running = new Set<{ micros: number }>();
  let last = 0;

  function divide(): void {
    const total = readMicros();
    for (const statement of running) statement.micros += (total - last) / running.size;
    last = total;
  }

  return () => {
    divide();
    const statement = { micros: 0 };
    running.add(statement);
    return () => {
      divide();
      running.delete(statement);
      return statement.micros / 1000;
    };
  };
}
