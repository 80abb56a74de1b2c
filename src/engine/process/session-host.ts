import { drainPending, Session } from 'chdb';
import type { EngineRequest } from './protocol.ts';
import { runStatement } from './statement.ts';

interface Outcome {
  readonly bytes: Uint8Array;
  readonly elapsedMs: number;
}

const NOTHING = new Uint8Array();
const CRASHES = ['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGABRT'] as const;

/**
 * Makes a crash end the process at once. Opening a session installs the engine's own handler, which waits minutes for a crash
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

  return async (request, payload) => {
    switch (request.op) {
      case 'open':
        await open(request);
        return { bytes: NOTHING, elapsedMs: 0 };
      case 'query': {
        const result = await runStatement(current(), payload.toString(), request.format);
        return { bytes: result.bytes(), elapsedMs: result.elapsed * 1000 };
      }
      case 'insert': {
        const { op: _, settings, ...rows } = request;
        const { elapsed } = await current().insert({ ...rows, settings, values: payload });
        return { bytes: NOTHING, elapsedMs: elapsed * 1000 };
      }
      case 'memory':
        return { bytes: Buffer.from(String(process.memoryUsage.rss())), elapsedMs: 0 };
      case 'close':
        session?.close();
        session = undefined;
        await drainPending();
        return { bytes: NOTHING, elapsedMs: 0 };
    }
  };
}
