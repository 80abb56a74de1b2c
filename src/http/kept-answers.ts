import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';
import type { FastifyBaseLogger } from 'fastify';
import type { Representation } from '../cache/representation.ts';
import type { Config } from '../config/config.ts';
import type { RecordRequest } from '../ingest/request-recorder.ts';
import type { Caller, Keyring } from '../keys/keyring.ts';
import { looksLikeToken } from '../keys/token.ts';
import { readCacheDirectives } from './cache-directives.ts';
import type { Connections } from './connections.ts';
import type { Head } from './head.ts';
import { findHeadFault } from './head-fault.ts';
import { readKey } from './plugins/auth.ts';
import { HUNG_UP, isLogged, writeLine } from './plugins/observe.ts';
import type { RateLimit } from './plugins/rate-limit.ts';
import { createRequestId } from './request-id.ts';
import { QUERY_PATH, type QueryParts } from './routes/query.ts';
import { describeAnswer, describeForm, describeServed, type Sending } from './send-answer.ts';

interface KeptAnswersContext extends Omit<QueryParts, 'config'> {
  readonly config: Config;
  readonly keyring: Keyring;
  readonly logger: FastifyBaseLogger;
  readonly record: RecordRequest | undefined;
}

export interface KeptAnswersParts {
  readonly context: KeptAnswersContext;
  readonly connections: Connections;
  readonly rateLimit: RateLimit;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the service is shutting down. */
  readonly isClosing: () => boolean;
}

/** Answers a request if it can; `false`: nothing has been done, and the request goes on to the framework. */
export type AnswerKept = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Answers from the cache what was asked and answered before, ahead of the framework: its routing, hooks and replies cost more
 * than everything that such a request needs. The framework remains the one that knows all the rules. What could meet one that
 * is not repeated here goes on to it: any refusal, anything not asked before, an answer still to be made or compressed,
 * conditional requests, pages of other origins, recorded requests, signed tokens. test/http/kept-answers.test.ts holds both ways
 * against each other.
 */
export function createKeptAnswers(parts: KeptAnswersParts): AnswerKept {
  const { context, connections, rateLimit } = parts;
  const { config, cached, keyring, metrics, logger, questions, sender } = context;
  const fixed: Head = Object.entries(parts.headers).flat();
  const addressOf = createAddressReader(config.trustProxy);
  const prefix = QUERY_PATH.slice(0, QUERY_PATH.indexOf(':'));

  /** Whose key it is, where it is one that may read anything. */
  function findCaller({ headers }: IncomingMessage): Caller | undefined {
    const key = readKey(headers);
    if (key === undefined || looksLikeToken(key)) return undefined;
    const caller = keyring.findCaller(key);
    return caller?.scopes.includes('query') === true ? caller : undefined;
  }

  function findAnswer({ url = '', headers }: IncomingMessage, caller: Caller) {
    const question = questions.find(url, caller);
    if (question === undefined) return undefined;
    const { endpoint, key } = question;
    const served = cached.findHit(key, endpoint, readCacheDirectives(headers).maxAgeSeconds);
    const form = served && sender.findForm(headers, served.answer);
    return form && { endpoint, key, served, form };
  }

  /** Who asks and what the answer is, once nothing stands in its way. A token of the key's rate is the last thing to be taken. */
  function find(request: IncomingMessage) {
    try {
      const caller = findCaller(request);
      const answer = caller && findAnswer(request, caller);
      if (caller === undefined || answer === undefined) return undefined;
      const limits = rateLimit.pass(caller, addressOf(request));
      if (limits === undefined) return undefined;
      cached.noteUse(answer.key, answer.endpoint);
      return { caller, answer, limits };
    } catch {
      return undefined; // it will fail again in the framework, which makes an answer of it
    }
  }

  /** One count and one line a request, as plugins/observe.ts. */
  function observe(
    { request, response }: { request: IncomingMessage; response: ServerResponse },
    { id, caller, startMs }: { id: string; caller: Caller; startMs: number },
    sending: Sending,
  ): void {
    const { endpoint, served } = sending;
    const ip = addressOf(request);
    metrics.served(endpoint.name, served.outcome, served.answer.rows);
    const note = (status: number) => {
      const ms = performance.now() - startMs;
      metrics.request({ route: QUERY_PATH, endpoint: endpoint.name, status, seconds: ms / 1000 });
      if (!isLogged(logger, 'info')) return;
      const about = { id, method: 'GET', keyId: caller.keyId, ip, endpointName: endpoint.name };
      const line = { ...about, failure: undefined, detail: describeServed(served) };
      writeLine(logger, { ...line, route: QUERY_PATH, quiet: false }, { status, ms });
    };
    // Waiting for the end of what has ended costs a fifth of an answer.
    if (isOut(response)) note(200);
    else response.on('close', () => note(response.writableFinished ? 200 : HUNG_UP));
  }

  // Each of these changes every answer, or does more for it than the answer costs.
  if (config.corsOrigins !== '' || context.record !== undefined) return () => false;
  return (request, response) => {
    const startMs = performance.now();
    if (!isPlain(request, prefix) || parts.isClosing()) return false;
    const found = find(request);
    if (found === undefined) return false;
    connections.trust(request.socket);
    const id = createRequestId(request.headers);
    send(response, fixed.concat('x-request-id', id, found.limits), found.answer);
    observe({ request, response }, { id, caller: found.caller, startMs }, found.answer);
    return true;
  };
}

function send(response: ServerResponse, head: Head, what: Sending & { readonly form: Representation }): void {
  const { form } = what;
  response.writeHead(200, head.concat(describeAnswer(what), describeForm(form)));
  // A text goes out in one piece with the head. Bytes would be a second piece, which costs as much again.
  if (form.text === undefined) response.end(form.body);
  else response.end(form.text, 'latin1');
}

/** Puts it before the framework, whose listener was the first. */
export function answerBefore(server: Server, answerKept: AnswerKept): void {
  const [framework] = server.listeners('request') as RequestListener[]; // what else could listen to it
  if (framework === undefined) throw new Error('the framework does not listen to its server');
  server.removeListener('request', framework);
  server.prependListener('request', (request, response) => {
    if (!answerKept(request, response)) framework.call(server, request, response);
  });
}

/** A GET of an endpoint without conditions. */
function isPlain(request: IncomingMessage, prefix: string): boolean {
  const { method, url = '', headers } = request;
  return (
    method === 'GET' &&
    url.startsWith(prefix) &&
    headers['if-none-match'] === undefined &&
    headers['if-modified-since'] === undefined &&
    headers['transfer-encoding'] === undefined && // the parser may yet refuse it
    findHeadFault(request) === undefined
  );
}

/** Whether the system has taken all of an answer: then nothing can become of it any more that we would hear of. */
function isOut({ socket }: ServerResponse): boolean {
  return socket !== null && !socket.destroyed && socket.writableLength === 0;
}

/** The caller's address, past the proxies that are trusted: the framework's own reading of it. */
function createAddressReader(trustProxy: string): (request: IncomingMessage) => string {
  if (trustProxy === '') return ({ socket }) => socket.remoteAddress ?? '';
  const isTrusted = proxyAddress.compile(trustProxy.split(','));
  return (request) => proxyAddress(request, isTrusted);
}
