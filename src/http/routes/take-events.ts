import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TailraceError } from '../../errors.ts';
import type { BodyFormat, EventBody } from '../../ingest/body-format.ts';
import { decodedBytesMaxOf, readBody } from '../../ingest/read-body.ts';
import type { EventPost } from '../../ingest/receive.ts';
import { DROPPED_HEADER, type Receipt, WITHOUT_PROJECT_HEADER } from '../../ingest/rejected.ts';
import { findSource } from '../../ingest/source-name.ts';
import { isListed } from '../../keys/grant.ts';
import type { Caller } from '../../keys/keyring.ts';
import { getAllowedSource, hideMissing, requireSource } from '../../keys/named.ts';
import { headerOf } from '../../lib/network.ts';
import { OWNER } from '../../query/pins.ts';
import type { AppParts } from '../parts.ts';
import { rejectType } from '../plugins/errors.ts';
import { getCaller, type RawQuery } from '../route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The bodies of a route for events; see `addBodyParser`. */
    eventBodies?: readonly EventBody[];
  }
}

/** A request with events in its body, which is decompressed. */
export type EventRequest = FastifyRequest<{
  Params: Readonly<Record<string, string>>;
  Querystring: RawQuery;
  Body: { readonly bytes: Buffer; readonly format: BodyFormat } | undefined;
}>;

/**
 * Adds a parser of all media types: it reads and decompresses bodies within the limits, or rejects them unread. The format
 * is that of the route's body with the type (`bodies`); a body that has none is read and dropped.
 */
export function addBodyParser(
  app: FastifyInstance,
  { config, admitEvents }: Pick<AppParts, 'config' | 'admitEvents'>,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    const { 'content-encoding': encoding, 'content-length': length = Number.NaN } = request.headers;
    const body = findBody(request);
    const isOwn = encoding !== undefined && encoding.trim().toLowerCase() === body?.ownEncoding;
    const check = body && (() => admitEvents(getCaller(request).keyId, Number(length) || 0));
    const head = { encoding: isOwn ? undefined : encoding, length: Number(length), check };
    const bytes = await readBody(payload, head, config);
    return body && { bytes, format: body.format };
  });
}

/** @throws TailraceError `unsupported_media_type` */
function findBody(request: FastifyRequest): EventBody | undefined {
  const { eventBodies } = request.routeOptions.config;
  const type = request.headers['content-type'] ?? '';
  const body = eventBodies?.find((one) => one.type.test(type));
  if (body === undefined && eventBodies !== undefined)
    throw new TailraceError('unsupported_media_type', rejectType(request));
  return body;
}

/**
 * Stores the events of a request; with an Idempotency-Key only once, even if it is sent again. A request that names no
 * source leaves it to the protocol, else to the body. Headers of the response count what its sender should know of.
 *
 * @param from `projectHeader`: the header that names the project, besides `X-Project`
 */
export async function takeEvents(
  { request, reply }: { readonly request: EventRequest; readonly reply: FastifyReply },
  { receive, registry, config }: AppParts,
  from: Pick<EventPost, 'protocol' | 'index'> & { readonly projectHeader?: string | undefined } = {},
): Promise<Receipt> {
  const { protocol, index, projectHeader } = from;
  const caller = getCaller(request);
  const source = findSource({ getSource: (text) => getAllowedSource(registry, caller, text) }, request);
  const pinnedProject = pinnedProjectOf(caller);
  checkChoice(request, caller);
  // No parser runs without a body.
  if (request.body === undefined)
    throw new TailraceError('invalid_request', 'the body is missing; send events, and a Content-Type');
  const named = source === undefined ? registry.sources.filter((one) => isListed(caller.sources, one)) : [];
  const post = receive({
    ...request.body,
    ...{ source, protocol, index },
    decodedBytesMax: decodedBytesMaxOf(config),
    candidates: named,
    project: findProject(request, projectHeader, pinnedProject) ?? config.defaultProject,
    pinnedProject,
    keyId: caller.keyId,
    idempotencyKey: headerOf(request, 'idempotency-key'),
    authorize: (target) => requireSource(caller, target),
  });
  const receipt = await post.catch((error: unknown) => {
    throw hideMissing(error, caller);
  });
  const { sources, stored, rejected, withoutProject, repaired, drop } = receipt;
  if (withoutProject > 0) reply.header(WITHOUT_PROJECT_HEADER, withoutProject);
  if (repaired > 0) reply.header('x-events-repaired', repaired);
  if (drop > 0) reply.header(DROPPED_HEADER, drop);
  request.detail = { source: sources.map(({ name }) => name).join(', '), stored, rejected };
  return receipt;
}

/**
 * Finds the project that the key or a header names.
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
  throw new TailraceError('forbidden', message, { rejectReason: 'pin' });
}

/**
 * Checks the project that a person with several has chosen: without this check, events for another one would be
 * stored in the first.
 * @throws TailraceError `forbidden`
 */
function checkChoice({ query }: Pick<EventRequest, 'query'>, { person, pins }: Caller): void {
  if (!Object.hasOwn(person?.choices ?? {}, OWNER)) return;
  const { [OWNER]: chosen } = query;
  for (const one of [chosen].flat()) chooseProject(OWNER, one, pins[OWNER]);
}

function chooseProject(
  header: string,
  named: string | undefined,
  pinned: string | undefined,
): string | undefined {
  if (pinned === undefined || named === undefined || named === pinned) return pinned ?? named;
  const message = `is pinned to ${JSON.stringify(pinned)} by the key`;
  const errors = [{ parameter: header, message }];
  throw new TailraceError('forbidden', `${header} ${message}`, { errors, rejectReason: 'pin' });
}
