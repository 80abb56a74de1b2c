import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, expect } from 'vitest';
import type { Service } from '../../src/service/service.ts';
import { sendPlain, throughFramework } from './http.ts';
import { PRIVATE_KEY } from './service.ts';

type Headers = Readonly<Record<string, string>>;

/** `byFramework`: whether it went through the framework. */
export type WayAnswer = Awaited<ReturnType<typeof sendPlain>> & { readonly byFramework: boolean };

// Fastify tells of each request that reaches a handler of its own.
const CHANNEL = 'tracing:fastify.request.handler:start';

/** Requests to a service, of which it is known whether the listener or the framework answered. */
export function createWays(
  { url, service }: { readonly url: string; readonly service: Service },
  path: string,
) {
  let handled = 0;
  const count = () => void handled++;
  subscribe(CHANNEL, count);
  afterAll(() => unsubscribe(CHANNEL, count));

  /** Over a socket, with no headers but these. */
  async function ask(
    headers: Headers = {},
    how: { path?: string; method?: string } = {},
  ): Promise<WayAnswer> {
    const before = handled;
    const options = { method: how.method ?? 'GET', headers: { 'x-api-key': PRIVATE_KEY, ...headers } };
    const answer = await sendPlain(`${url}${how.path ?? path}`, options);
    return { ...answer, byFramework: handled > before };
  }

  return {
    ask,
    /** The same where the listener has to hand the request on. */
    async askFramework(headers?: Headers, how?: Parameters<typeof ask>[1]): Promise<WayAnswer> {
      const answer = await throughFramework(service.keyring, () => ask(headers, how));
      expect(answer.byFramework).toBe(true);
      return answer;
    },
  };
}

/** What of an answer has to be the same by both ways: all but the instant and the id of the request. */
export function comparable({ status, headers, body }: WayAnswer) {
  const own = { date: '', 'x-request-id': '' };
  return { status, headers: { ...headers, ...own }, body: body.toString('hex') };
}
