import { statSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { ERROR_CODES, type ErrorCode, InputError, TailraceError } from '../../errors.ts';
import { type CommandFailure, type Line, openSocketPath } from './protocol.ts';

/** A command that a service is executing. */
export interface RunningCommand {
  /**
   * Calls back with each line of progress; resolves with the result.
   *
   * @throws InputError, TailraceError: the failure of the service; InputError if the service has ended
   */
  finish(onProgress: (progress: unknown) => void): Promise<unknown>;
  /** Closes the connection, which stops work that serves only this command. */
  hangUp(): void;
}

/**
 * Sends a command to the service that owns a data directory.
 *
 * @param path one of `COMMANDS`
 * @returns `undefined` if no service listens there
 * @throws InputError if this user has no right to it
 */
export async function sendCommand(
  dataDir: string,
  path: string,
  body: unknown,
): Promise<RunningCommand | undefined> {
  const response = await send(dataDir, path, JSON.stringify(body));
  if (response === undefined) return undefined;
  const lines = createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY });
  response.on('error', () => lines.close()); // even if nothing reads them yet
  return {
    async finish(onProgress) {
      for await (const text of untilLost(lines)) {
        const line = JSON.parse(text) as Line; // written by server.ts
        if ('done' in line) return line.done;
        if ('error' in line) throw toError(line.error);
        onProgress(line.progress);
      }
      throw new InputError(['the service stopped before the command was done; run it again']);
    },
    hangUp() {
      lines.close();
      response.destroy();
    },
  };
}

/** Reads the lines up to the end of the connection, which breaks if the service ends: then none of them is a result. */
async function* untilLost(lines: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* lines;
  } catch {}
}

// Node's codes if there is no service, or it was killed.
const ABSENT: ReadonlySet<unknown> = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR']);

async function send(dataDir: string, path: string, body: string): Promise<IncomingMessage | undefined> {
  try {
    const { path: socketPath, release } = openSocketPath(dataDir);
    assertOwn(dirname(socketPath));
    return await new Promise<IncomingMessage>((resolve, reject) => {
      request({ socketPath, path, method: 'POST' }, resolve).once('error', reject).end(body);
    }).finally(release);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (ABSENT.has(code)) return undefined;
    if (code !== 'EACCES') throw error;
    throw new InputError(
      [`the service on ${dataDir} belongs to another user; run this command as that user`],
      { cause: error },
    );
  }
}

/** Rejects a folder that another user has opened to all: what listens there could ask for this user's key. */
function assertOwn(folder: string): void {
  const user = process.getuid?.() ?? 0;
  if (user !== 0 && statSync(folder).uid !== user)
    throw Object.assign(new Error(`${folder} belongs to another user`), { code: 'EACCES' });
}

function toError({ faults, code, message }: CommandFailure): Error {
  if (faults !== undefined) return new InputError(faults);
  const known = Object.keys(ERROR_CODES).find((one) => one === code) as ErrorCode | undefined; // its keys are the codes
  return known === undefined ? new Error(message) : new TailraceError(known, message);
}
