// The engine process: the only one that loads the engine. Its only state is the sessions, so the service can
// kill it at any moment and start another.
import { flushCompileCache } from 'node:module';
import { Socket } from 'node:net';
import {
  type EngineReply,
  type EngineRequest,
  FIRST_SOCKET,
  type Frame,
  readFrames,
  writeFrame,
} from './channel.ts';
import { createSessionHost } from './session-host.ts';

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
  const onRequest = ({ head, payload }: Frame<EngineRequest>) => {
    last = last
      .then(() => answer(head, payload))
      .then(
        ({ bytes, ...head }) => send({ state: 'done', ...head }, bytes),
        (error: unknown) => send(toFailure(error)),
      );
  };
  readFrames<EngineRequest>(socket, onRequest, end);
}

function toFailure(error: unknown): EngineReply {
  const code = (error as { clickhouseCode?: unknown } | null)?.clickhouseCode;
  const message = error instanceof Error ? error.message : String(error);
  return { state: 'failed', message, ...(typeof code === 'number' && { code }) };
}

// A terminal sends these to its whole process group; the service decides when the engine ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const sockets = Number(process.argv[2]);
for (let i = 0; i < sockets; i++) serve(FIRST_SOCKET + i);
flushCompileCache(); // a signal ends the process before Node would write the cache
