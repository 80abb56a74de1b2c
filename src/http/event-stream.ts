import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EVENT_STREAM } from '../serve/negotiate.ts';
import type { ResolvedTail } from '../serve/resolve.ts';
import type { Sink } from '../tail/member.ts';
import type { AppParts } from './parts.ts';
import { describeRun, getCaller } from './route.ts';

// Time for a reader that no longer reads, not even the last event.
const LAST_EVENT_MS = 5_000;
// Time for a part of the rows before the first new one, and for all of them: they are in memory until the last part is
// sent. A reader is fast enough at 140 KB/s, for 8 MiB at most.
const DRAIN_MS_MAX = 15_000;
const DRAINS_MS_MAX = 60_000;

/** Headers of a response with events. The connection is not used again: it may be open for days. */
const EVENT_STREAM_HEAD = {
  'content-type': `${EVENT_STREAM}; charset=utf-8`,
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // nginx would collect the events
  connection: 'close',
} as const;

/** Takes the response over from the framework and sends its head. */
function openEventStream(reply: FastifyReply): Sink {
  const { raw } = reply.hijack();
  raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...EVENT_STREAM_HEAD }); // set as texts
  raw.flushHeaders();
  raw.on('error', () => {}); // the reader has disconnected; `close` follows
  let drainsMs = 0;
  return {
    get waitingBytes() {
      return raw.writableLength;
    },
    write(events) {
      if (!raw.destroyed) raw.write(events);
    },
    end(event) {
      raw.end(event);
      const cut = setTimeout(() => raw.destroy(), LAST_EVENT_MS);
      raw.once('close', () => clearTimeout(cut));
    },
    async drained() {
      if (!raw.writableNeedDrain || raw.destroyed) return true;
      const waiting = new AbortController();
      const { signal } = waiting;
      const taken = Promise.race([once(raw, 'drain', { signal }), once(raw, 'close', { signal })]);
      const startMs = performance.now();
      const late = pause(Math.min(DRAIN_MS_MAX, DRAINS_MS_MAX - drainsMs), false, { signal });
      try {
        return await Promise.race([taken.then(() => true), late]);
      } finally {
        drainsMs += performance.now() - startMs;
        waiting.abort();
      }
    },
  };
}

/** Responds with the events of a live tail. Failures before the first event are ordinary error responses. */
export async function sendTail(
  { tails, ...parts }: AppParts,
  resolved: ResolvedTail,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { method, sent } = request;
  const caller = getCaller(request);
  if (method === 'HEAD') return reply.headers(EVENT_STREAM_HEAD).send('');
  const authenticate = () => parts.authenticate(sent);
  const { lane, signal } = describeRun(request, reply);
  const tail = await tails.open({ ...resolved, lane, signal, caller, authenticate });
  reply.raw.once('close', tail.leave);
  if (reply.raw.destroyed) tail.leave();
  request.detail = { tail: true };
  request.responseMs = performance.now();
  tail.start(openEventStream(reply));
  return reply;
}
