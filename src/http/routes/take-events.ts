import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Registry } from '../../definitions/registry.ts';
import type { Source } from '../../definitions/source.ts';
import { TailraceError } from '../../errors.ts';
import type { Received } from '../../ingest/idempotency/idempotency.ts';
import { type BodyLimits, readBody } from '../../ingest/read-body.ts';
import type { Receive } from '../../ingest/receive.ts';
import { findSource } from '../../ingest/source-name.ts';
import type { BodyFormat } from '../../ingest/wire-events.ts';
import { isListed } from '../../keys/grant.ts';
import type { Caller } from '../../keys/keyring.ts';
import { getAllowedSource, hideMissing, requireSource } from '../../keys/named.ts';
import { OWNER } from '../../query/pins.ts';
import { getCaller } from '../plugins/auth.ts';
import type { RawQuery } from '../route.ts';

export interface IngestParts {
  readonly config: BodyLimits & Pick<Config, 'defaultProject' | 'otlpSource'>;
  readonly registry: Registry;
  readonly receive: Receive;
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

/** Adds a parser that decompresses bodies of a media type within the limits; their route decodes them. */
export function addBodyParser(
  app: FastifyInstance,
  { type, format, limits }: { type: string | RegExp; format: BodyFormat; limits: BodyLimits },
): void {
  app.addContentTypeParser(type, async (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    const { 'content-encoding': encoding, 'content-length': length = Number.NaN } = request.headers;
    const bytes = await readBody(payload, { encoding, length: Number(length) }, limits);
    return { bytes, format } satisfies RawBody;
  });
}

/** Finds the source that a request names beside its body. @throws TailraceError as `findSource`, `getAllowedSource` */
export function findSourceOf(request: EventRequest, { registry }: IngestParts): Source | undefined {
  const by = { lists: getCaller(request), action: 'send to' } as const;
  return findSource({ getSource: (text) => getAllowedSource(registry, by, text) }, request);
}

/**
 * Stores the events of a request; with an Idempotency-Key only once, even if it is sent again.
 *
 * @param source that the request names; `undefined` leaves it to the body
 */
export async function takeEvents(
  request: EventRequest,
  { receive, registry, config }: IngestParts,
  source: Source | undefined,
): Promise<Received> {
  const caller = getCaller(request);
  const pinnedProject = pinnedProjectOf(caller);
  // No parser runs without a body.
  if (request.body === undefined)
    throw new TailraceError('invalid_request', 'the body is missing; send events, and a Content-Type');
  const named = source === undefined ? registry.sources.filter((one) => isListed(caller.sources, one)) : [];
  const post = receive({
    ...request.body,
    source,
    candidates: named,
    project: chooseProject(headerText(request, 'x-project'), pinnedProject) ?? config.defaultProject,
    pinnedProject,
    keyId: caller.keyId,
    idempotencyKey: headerText(request, 'idempotency-key'),
    authorize: (target) => requireSource(caller, target),
  });
  const { source: target, ...received } = await post.catch((error: unknown) => {
    throw hideMissing(error, caller);
  });
  request.detail = { source: target.name, stored: received.stored, refused: received.refused };
  return received;
}

/** @throws TailraceError `forbidden` if a key pins parameters but no project: its pins would not apply to events */
function pinnedProjectOf({ pins }: Caller): string | undefined {
  const names = Object.keys(pins);
  if (names.length === 0 || Object.hasOwn(pins, OWNER)) return pins[OWNER];
  const message = `the key pins ${names.join(', ')} but no project, so it cannot send events`;
  throw new TailraceError('forbidden', message, { refusal: 'pin' });
}

function chooseProject(named: string | undefined, pinned: string | undefined): string | undefined {
  if (pinned === undefined || named === undefined || named === pinned) return pinned ?? named;
  const message = `is pinned to ${JSON.stringify(pinned)} by the key`;
  const errors = [{ parameter: 'X-Project', message }];
  throw new TailraceError('forbidden', `X-Project ${message}`, { errors, refusal: 'pin' });
}

/** Returns a header's text; `undefined` if it is missing or empty. */
function headerText(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
