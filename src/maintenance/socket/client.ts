import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { ERROR_CODES, type ErrorCode, InputError, TailraceError } from '../../errors.ts';
import { openSocketPath } from './path.ts';
import type { Line } from './protocol.ts';

/** A command that a service is carrying out. */
export interface Asked {
  /**
   * Hands on each line of progress; resolves with what the service has done.
   *
   * @throws InputError, TailraceError: what the service failed with; InputError where it has ended before
   */
  finish(onProgress: (progress: unknown) => void): Promise<unknown>;
  /** Hangs up, which ends what the service does for this command alone. */
  hangUp(): void;
}

/**
 * Asks the service that owns a data directory to carry out a command.
 *
 * @param path one of `COMMANDS`
 * @returns `undefined` where no service listens there
 * @throws InputError where this user may not ask it
 */
export async function askService(dataDir: string, path: string, body: unknown): Promise<Asked | undefined> {
  const response = await send(dataDir, path, JSON.stringify(body));
  if (response === undefined) return undefined;
  const lines = createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY });
  response.on('error', () => lines.close()); // the service has ended: the lines end without the last one
  return {
    async finish(onProgress) {
      for await (const text of lines) {
        const line = JSON.parse(text) as Line; // written by server.ts
        if ('done' in line) return line.done;
        if ('error' in line) throw toError(line.error);
        onProgress(line.progress);
      }
      throw new InputError(['the service stopped before it had done this; run the command again']);
    },
    hangUp() {
      lines.close();
      response.destroy();
    },
  };
}

// Of what stands in the way of a service that is not there, or has been killed.
const ABSENT: ReadonlySet<unknown> = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR']);

async function send(dataDir: string, path: string, body: string): Promise<IncomingMessage | undefined> {
  try {
    const { path: socketPath, release } = openSocketPath(dataDir);
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

function toError({ faults, code, message }: Extract<Line, { error: unknown }>['error']): Error {
  if (faults !== undefined) return new InputError(faults);
  const known = Object.keys(ERROR_CODES).find((one) => one === code) as ErrorCode | undefined; // its keys are the codes
  return known === undefined ? new Error(message) : new TailraceError(known, message);
}
