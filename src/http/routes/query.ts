import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import type { Parameter } from '../../definitions/parameter.ts';
import { toText } from '../../definitions/parameter-type.ts';
import { TailraceError } from '../../errors.ts';
import { getAllowedEndpoint } from '../../keys/named.ts';
import {
  findUndeclared,
  IGNORED_HEADER,
  listKnown,
  type RawParameters,
  writeIgnored,
} from '../../query/parameters.ts';
import { describeServed } from '../../serve/describe.ts';
import { wantsTail } from '../../serve/negotiate.ts';
import type { Resolved } from '../../serve/resolve.ts';
import { sendTail } from '../event-stream.ts';
import { acceptJson } from '../json-body.ts';
import type { AppParts } from '../parts.ts';
import { addHead } from '../plugins/auth.ts';
import {
  defineRoute,
  describeRun,
  describeTooMany,
  getCaller,
  PARAMETERS_MAX,
  QUERY_ERRORS,
  type RouteGroup,
  type RouteRequest,
  URL_BYTES_MAX,
} from '../route.ts';

export const QUERY_PATH = '/api/endpoints/query/:endpoint';

/** The common part of GET and POST. */
const shared = {
  errors: ['endpoint_not_found', 'not_acceptable', ...QUERY_ERRORS],
  handle: runQuery,
} as const;

const QUERY_GET = defineRoute(`GET ${QUERY_PATH}`, ['query'], {
  ...shared,
  summary: 'Rows of an endpoint, by its UUID or name',
});
/** For parameters that are too long for a URL. */
export const QUERY_POST = defineRoute(`POST ${QUERY_PATH}`, ['query'], {
  ...shared,
  summary: 'The same, with parameters in the body',
  body: { required: false, content: {} }, // described by endpoint: openapi/operation.ts
});

/** Serves saved queries by UUID or name (spec 4). */
export const queryRoutes: RouteGroup = {
  routes: [QUERY_GET, QUERY_POST],
  bodyBytesMax: URL_BYTES_MAX, // a body holds what a URL could hold
  setup(app, { tails }) {
    acceptJson(app, (_body, exact) => exact);
    app.addHook('preClose', (done) => {
      tails.close(); // they would keep the service from closing
      done();
    });
  },
};

async function runQuery(
  parts: AppParts,
  request: RouteRequest<typeof QUERY_PATH, TObject, TSchema>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { registry, resolve } = parts;
  const { method, headers } = request;
  const caller = getCaller(request);
  const endpoint = getAllowedEndpoint(registry, caller, request.params.endpoint);
  request.endpointName = endpoint.name;
  const accepts = request.accepts();
  const parameters = mergeParameters(request.query, request.body, endpoint.parameters);
  const undeclared = findUndeclared(listKnown(endpoint), parameters);
  const ignored = undeclared.length === 0 ? undefined : writeIgnored(undeclared);
  if (ignored !== undefined) reply.header(IGNORED_HEADER, ignored); // also of an error or a live tail
  if (wantsTail({ accepts, endpoint, parameters })) {
    const followed = parts.resolveTail({ caller, endpoint, parameters, headers });
    return await sendTail(parts, followed, { request, reply });
  }
  const resolved = await resolve({
    ...{ caller, endpoint, headers, parameters, ignored, accepts },
    sandboxed: describeRun(request, reply),
    url: method === 'POST' ? undefined : request.url,
  });
  return await sendAnswer(parts, resolved, { request, reply });
}

interface QueryRequest extends Omit<Resolved, 'ignored'> {
  /** Advice for a caller that gets no rows. */
  readonly describeDoubts?: () => string | undefined;
}

/** Finds or computes the answer, and responds with it. */
export async function sendAnswer(
  { cached, describe, metrics }: AppParts,
  { question, encoding, directives, describeDoubts }: QueryRequest,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { method, headers } = request;
  const served =
    cached.find(question, directives) ??
    (await cached.compute(question, { ...describeRun(request, reply), ...directives }));
  metrics.served(question.endpoint.name, served.outcome, served.answer.rows);
  request.detail = describeServed(served);
  const { sampledShare } = served.answer;
  if (sampledShare !== undefined) reply.header(SAMPLED_HEADER, String(sampledShare));
  const hint = served.answer.rows === 0 ? (served.answer.hint ?? describeDoubts?.()) : undefined;
  if (hint !== undefined) reply.header(HINT_HEADER, toHeader(hint));
  const vary = reply.getHeader('vary')?.toString();
  const { isAmbient } = getCaller(request);
  const exchange = { method, headers, vary, url: request.url, question, encoding, isAmbient };
  const described = await describe(exchange, served);
  addHead(reply.code(described.status), described.head);
  return reply.send(described.representation?.body);
}

/** The share of the events that an answer has read, 0 to 1, if not all. */
export const SAMPLED_HEADER = 'x-sampled';

/** Says what may be wrong with a question that has an empty answer. */
export const HINT_HEADER = 'x-tailrace-hint';

/** Writes a text with names of a caller as the value of a header: characters other than printable ASCII as `\\u{…}`. */
function toHeader(text: string): string {
  return text.replaceAll(/[^ -~]/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`);
}

/**
 * Merges the parameters of a query string and a JSON body. One that is in both counts as sent twice.
 * @param body parsed JSON, in which integers may be BigInts; `undefined` if none was sent
 * @param declared the endpoint's parameters, which may be JSON values of their types; all others are texts
 * @throws TailraceError `invalid_request` if the body is not an object of such values
 */
export function mergeParameters(
  query: RawParameters,
  body: unknown,
  declared: readonly Parameter[],
): RawParameters {
  if (body === undefined) return query;
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('the body must be a JSON object of parameters, such as {"project":"aurora"}');
  const entries = Object.entries(body);
  if (entries.length > PARAMETERS_MAX) throw invalid(describeTooMany('body'));
  const merged: Record<string, string | readonly string[] | undefined> = { ...query };
  for (const [name, json] of entries) {
    const parameter = declared.find((one) => one.name === name);
    const value = readValue(json, parameter);
    if (value === undefined) {
      const shown = JSON.stringify(name.slice(0, 100));
      throw invalid(`the body's ${shown} must be a string in quotes${describeTyped(json, parameter)}`);
    }
    const before = Object.hasOwn(merged, name) ? merged[name] : undefined;
    merged[name] = before === undefined ? value : [before, value].flat();
  }
  return merged;
}

/** Returns the text of a JSON value; `undefined` if the parameter does not accept it. */
export function readValue(json: unknown, parameter: Parameter | undefined): string | string[] | undefined {
  if (typeof json === 'string') return json;
  if (Array.isArray(json) && parameter?.parseList !== undefined) {
    const texts = json.map((item) => readScalar(item, parameter));
    return texts.every((text) => text !== undefined) ? texts : undefined;
  }
  return parameter?.parseList === undefined ? readScalar(json, parameter) : undefined;
}

function readScalar(json: unknown, parameter: Parameter | undefined): string | undefined {
  if (typeof json === 'string') return json;
  if (typeof json !== 'number' && typeof json !== 'bigint' && typeof json !== 'boolean') return undefined;
  const type = typeof json === 'bigint' ? 'number' : typeof json;
  return type === parameter?.jsonType ? toText(json) : undefined;
}

/** Describes the JSON that a parameter accepts beside a text, and the received value, as the end of a sentence. */
export function describeTyped(json: unknown, parameter: Parameter | undefined): string {
  const type = parameter?.jsonType ?? 'string';
  if (parameter?.parseList !== undefined)
    return `, or a list of ${type}s, not ${describeJson(json, 'another')}`;
  return `${type === 'string' ? '' : `, or a ${type}`}, not ${describeJson(json, 'a')}`;
}

const SHOWN_CHARS_MAX = 100;

/** Describes scalars as they are; a list or an object may be too deep to be written. */
function describeJson(json: unknown, article: string): string {
  if (Array.isArray(json)) return `${article} list`;
  if (typeof json === 'bigint') return String(json).slice(0, SHOWN_CHARS_MAX);
  return typeof json === 'object' && json !== null ? 'an object' : JSON.stringify(json);
}

function invalid(message: string): TailraceError {
  return new TailraceError('invalid_request', message);
}
