import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { InputError, messageOf, TailraceError } from '../../errors.ts';
import { makeSocketFolder, openSocketPath } from './path.ts';
import type { Line } from './protocol.ts';

/**
 * Carries out one command of the shell.
 *
 * @param send writes a line of the answer
 * @param signal aborts when the shell has hung up, or the service stops
 * @returns the last line
 */
export type Handler = (
  body: unknown,
  how: { readonly send: (line: Line) => void; readonly signal: AbortSignal },
) => Promise<unknown>;

export interface LocalServer {
  close(): Promise<void>;
}

export interface LocalServerOptions {
  readonly dataDir: string;
  /** Path → what it does, such as `/snapshot`. */
  readonly handlers: Readonly<Record<string, Handler>>;
  /** Called with a fault of Tailrace; the shell receives its message, too. */
  readonly onError: (error: unknown) => void;
}

// Of a command: a few names.
const BODY_BYTES_MAX = 64 * 1024;

/**
 * Listens on a socket in the data directory for the commands of the shell that need the store which this process owns. There is no
 * key: the folder of the socket can be entered by its owner alone, who could as well change the files beside it.
 *
 * @returns `undefined` where another process listens there: services on a ClickHouse server may share a data directory
 */
export async function openLocalServer(options: LocalServerOptions): Promise<LocalServer | undefined> {
  const { dataDir } = options;
  makeSocketFolder(dataDir);
  const { path, release } = openSocketPath(dataDir);
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const answered = answer(request, response, { ...options, stopping: stopping.signal });
    running.add(answered);
    void answered.finally(() => running.delete(answered));
  });
  try {
    if (await isAnswered(path)) {
      release();
      return undefined;
    }
    rmSync(path, { force: true }); // of a process that was killed
    await listen(server, path);
  } catch (error) {
    release();
    throw error;
  }
  server.on('error', options.onError); // of a connection that could not be accepted: the next one may be
  server.unref(); // a service that cannot start for another reason ends
  return {
    async close() {
      stopping.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all(running);
      release();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { handlers, onError, stopping }: LocalServerOptions & { stopping: AbortSignal },
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, stopping]);
  const send = (line: Line) => void response.write(`${JSON.stringify(line)}\n`);
  try {
    const handle = handlers[request.url ?? ''];
    if (handle === undefined) throw new InputError([`the service knows no command ${request.url}`]);
    const body = await readBody(request);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    send({ done: await handle(body, { send, signal }) });
  } catch (error) {
    const isOurs = !(error instanceof InputError || error instanceof TailraceError);
    if (isOurs && !signal.aborted) onError(error);
    send({ error: describe(error) });
  } finally {
    response.end();
  }
}

function describe(error: unknown): { faults?: readonly string[]; code?: string; message: string } {
  const message = messageOf(error);
  if (error instanceof InputError) return { faults: error.faults, message };
  if (!(error instanceof TailraceError)) return { message };
  const why = error.cause === undefined ? '' : ` (${messageOf(error.cause).split('\n')[0]})`;
  return { code: error.code, message: `${message}${why}` };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new InputError(['the command is too long']);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

async function isAnswered(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    }).once('error', () => resolve(false));
  });
}

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}
