import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { InputError, messageOf, TailraceError } from '../../errors.ts';
import { type CommandFailure, createSocketFolder, type Line, openSocketPath } from './protocol.ts';

/**
 * Executes one command.
 *
 * @param send writes a line of progress
 * @param signal aborts when the client hangs up or the service stops
 * @returns the result
 */
export type Handler = (
  body: unknown,
  connection: { readonly send: (line: Line) => void; readonly signal: AbortSignal },
) => Promise<unknown>;

export interface LocalServerOptions {
  readonly dataDir: string;
  /** By path, such as `/snapshot`. */
  readonly handlers: Readonly<Record<string, Handler>>;
  /** Called with an unexpected error; the client receives its message, too. */
  readonly onError: (error: unknown) => void;
}

const BODY_BYTES_MAX = 64 * 1024; // a command has a few names

/**
 * Listens on a socket in the data directory for commands that need the store of this process.
 *
 * @returns `undefined` if another process listens there: services on a ClickHouse server may share a data directory
 */
export async function openLocalServer(options: LocalServerOptions) {
  const { dataDir } = options;
  createSocketFolder(dataDir);
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
    rmSync(path, { force: true }); // left by a process that was killed
    await once(server.listen(path), 'listening');
    chmodSync(path, 0o600); // beside the rights of its folder
  } catch (error) {
    release();
    throw error;
  }
  server.on('error', options.onError); // a failed accept does not concern later connections
  server.unref(); // it does not keep a service alive that fails to start
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
    if (handle === undefined)
      throw new InputError([
        `unknown command ${request.url}; service and command may be of different versions`,
      ]);
    const body = await readBody(request);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.flushHeaders(); // so that a client knows that its command was accepted even if the service stops before the first line
    send({ done: await handle(body, { send, signal }) });
  } catch (error) {
    const isOurs = !(error instanceof InputError || error instanceof TailraceError);
    if (isOurs && !signal.aborted) onError(error);
    send({ error: describe(error) });
  } finally {
    response.end();
  }
}

function describe(error: unknown): CommandFailure {
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
    if (length > BODY_BYTES_MAX)
      throw new InputError([`the command has more than ${BODY_BYTES_MAX} bytes; shorten it`]);
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
