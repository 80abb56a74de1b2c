import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Registry } from '../../definitions/registry.ts';
import type { Source } from '../../definitions/source.ts';
import { TailraceError } from '../../errors.ts';
import type { Backpressure } from '../../ingest/backpressure.ts';
import type { ProtocolBody, ProtocolSettings } from '../../ingest/protocols/protocol.ts';
import { type BodyLimits, decodedBytesMaxOf, readBody } from '../../ingest/read-body.ts';
import type { Receipt } from '../../ingest/receipt.ts';
import type { EventPost, Receive } from '../../ingest/receive.ts';
import { findSource } from '../../ingest/source-name.ts';
import type { BodyFormat } from '../../ingest/wire-events.ts';
import { isListed } from '../../keys/grant.ts';
import type { Caller } from '../../keys/keyring.ts';
import { getAllowedSource, hideMissing, requireSource } from '../../keys/named.ts';
import { headerOf } from '../../lib/header.ts';
import { OWNER } from '../../query/pins.ts';
import { getCaller } from '../plugins/auth.ts';
import { refuseType } from '../plugins/errors.ts';
import type { RawQuery } from '../route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The bodies of a route of a protocol; see `addRawParser`. */
    protocolBodies?: readonly ProtocolBody[];
  }
}

export interface IngestParts {
  readonly config: BodyLimits & Pick<Config, 'defaultProject'> & ProtocolSettings;
  readonly registry: Registry;
  readonly receive: Receive;
  readonly backpressure: Backpressure;
}

/** A request body with events, decompressed. */
interface RawBody {
  readonly bytes: Buffer;
  readonly format: BodyFormat;
}

/** A request with events in its body. */
export type EventRequest = FastifyRequest<{
  Params: Readonly<Record<never, string>>;
  Querystring: RawQuery;
  Body: RawBody | undefined;
}>;

/**
 * Adds a parser that reads and decompresses bodies of a media type within the limits, or rejects them unread; their
 * route decodes them.
 */
export function addBodyParser(
  app: FastifyInstance,
  { config, backpressure }: Pick<IngestParts, 'config' | 'backpressure'>,
  { type, format }: { type: string | RegExp; format: BodyFormat },
): void {
  app.addContentTypeParser(type, async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    const { 'content-encoding': encoding, 'content-length': length = Number.NaN } = request.headers;
    const check = () => backpressure.check(getCaller(request).keyId, Number(length) || 0);
    const bytes = await readBody(payload, { encoding, length: Number(length), check }, config);
    return { bytes, format } satisfies RawBody;
  });
}

/** Adds a parser of all media types: the body is that of its route which has the type (`protocolBodies`). */
export function addRawParser(
  app: FastifyInstance,
  { config, backpressure }: Pick<IngestParts, 'config' | 'backpressure'>,
): void {
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    const { 'content-encoding': encoding, 'content-length': length = Number.NaN } = request.headers;
    const { protocolBodies } = request.routeOptions.config;
    const body = protocolBodies && getBody(request, protocolBodies);
    const own = encoding !== undefined && encoding.trim().toLowerCase() === body?.ownEncoding;
    const check = body && (() => backpressure.check(getCaller(request).keyId, Number(length) || 0));
    const head = { encoding: own ? undefined : encoding, length: Number(length), check };
    const bytes = await readBody(payload, head, config);
    return body === undefined ? undefined : ({ bytes, format: body.format } satisfies RawBody);
  });
}

/** @throws TailraceError `unsupported_media_type` */
function getBody(request: FastifyRequest, bodies: readonly ProtocolBody[]): ProtocolBody {
  const type = request.headers['content-type'] ?? '';
  const body = bodies.find((one) => one.type.test(type));
  if (body === undefined) throw new TailraceError('unsupported_media_type', refuseType(request));
  return body;
}

/** Finds the source that a request names beside its body. @throws TailraceError as `findSource`, `getAllowedSource` */
export function findSourceOf(
  request: Pick<EventRequest, 'query' | 'headers' | 'caller'>,
  { registry }: IngestParts,
): Source | undefined {
  const caller = getCaller(request);
  return findSource({ getSource: (text) => getAllowedSource(registry, caller, text) }, request);
}

/** As `findSourceOf`, for protocols in which `source` in the query string is something else. */
export function findSourceInHeaders(
  { headers, caller }: Pick<FastifyRequest, 'headers' | 'caller'>,
  parts: IngestParts,
): Source | undefined {
  return findSourceOf({ query: {}, headers, caller }, parts);
}

const IDEMPOTENCY = 'idempotency-key';

interface TakeOptions extends Pick<EventPost, 'protocol' | 'context' | 'target'> {
  /** The source that the request names; `undefined` leaves it to the protocol, else to the body. */
  readonly source: Source | undefined;
  /** The header that names the project, besides `X-Project`. */
  readonly projectHeader?: string | undefined;
  /** The header that counts as `Idempotency-Key`, besides it. */
  readonly repeatHeader?: string | undefined;
}

/** Stores the events of a request; with an Idempotency-Key only once, even if it is sent again. */
export async function takeEvents(
  request: Pick<EventRequest, 'body' | 'headers' | 'caller' | 'detail'>,
  { receive, registry, config }: IngestParts,
  { source, protocol, context, target, projectHeader, repeatHeader = IDEMPOTENCY }: TakeOptions,
): Promise<Receipt> {
  const caller = getCaller(request);
  const pinnedProject = pinnedProjectOf(caller);
  // No parser runs without a body.
  if (request.body === undefined)
    throw new TailraceError('invalid_request', 'the body is missing; send events, and a Content-Type');
  const named = source === undefined ? registry.sources.filter((one) => isListed(caller.sources, one)) : [];
  const post = receive({
    ...request.body,
    ...{ source, protocol, context, target },
    decodedBytesMax: decodedBytesMaxOf(config),
    candidates: named,
    project: findProject(request, projectHeader, pinnedProject) ?? config.defaultProject,
    pinnedProject,
    keyId: caller.keyId,
    idempotencyKey: headerOf(request, IDEMPOTENCY) ?? headerOf(request, repeatHeader),
    authorize: (target) => requireSource(caller, target),
  });
  const receipt = await post.catch((error: unknown) => {
    throw hideMissing(error, caller);
  });
  const { sources, stored, refused } = receipt;
  request.detail = { source: sources.map(({ name }) => name).join(', '), stored, refused };
  return receipt;
}

/**
 * Finds the project that the key or a header names.
 *
 * @throws TailraceError `forbidden` if a header names another than the key
 */
function findProject(
  request: Pick<FastifyRequest, 'headers'>,
  header: string | undefined,
  pinned: string | undefined,
): string | undefined {
  const own = header === undefined ? undefined : chooseProject(header, headerOf(request, header), pinned);
  return chooseProject('X-Project', headerOf(request, 'x-project'), pinned) ?? own;
}

/** @throws TailraceError `forbidden` if a key pins parameters but no project: its pins would not apply to events */
function pinnedProjectOf({ pins }: Caller): string | undefined {
  const names = Object.keys(pins);
  if (names.length === 0 || Object.hasOwn(pins, OWNER)) return pins[OWNER];
  const message = `the key pins ${names.join(', ')} but no project, so it cannot send events`;
  throw new TailraceError('forbidden', message, { refusal: 'pin' });
}

function chooseProject(
  header: string,
  named: string | undefined,
  pinned: string | undefined,
): string | undefined {
  if (pinned === undefined || named === undefined || named === pinned) return pinned ?? named;
  const message = `is pinned to ${JSON.stringify(pinned)} by the key`;
  const errors = [{ parameter: header, message }];
  throw new TailraceError('forbidden', `${header} ${message}`, { errors, refusal: 'pin' });
}
