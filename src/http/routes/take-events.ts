import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Registry } from '../../definitions/registry.ts';
import type { Source } from '../../definitions/source.ts';
import { TailraceError } from '../../errors.ts';
import type { BodyReader } from '../../ingest/body-reader.ts';
import type { SourceFields } from '../../ingest/choose-source.ts';
import type { Idempotency } from '../../ingest/idempotency.ts';
import type { BodyLimits } from '../../ingest/read-body.ts';
import type { Receive, Received } from '../../ingest/receive.ts';
import { isListed } from '../../keys/grant.ts';
import type { Caller } from '../../keys/keyring.ts';
import { OWNER } from '../../query/pins.ts';
import { getCaller } from '../plugins/auth.ts';
import { getBody, type RawBody } from '../plugins/body.ts';
import type { RawQuery } from '../route.ts';

export interface IngestParts {
  readonly config: BodyLimits & Pick<Config, 'defaultProject' | 'otlpSource'>;
  readonly registry: Registry;
  readonly bodies: BodyReader;
  readonly receive: Receive;
  readonly idempotency: Idempotency;
}

/** A request with events in its body. */
export type EventRequest = FastifyRequest<{
  Params: Readonly<Record<never, string>>;
  Querystring: RawQuery;
  Body: RawBody | undefined;
}>;

/**
 * Stores a request's events; with an Idempotency-Key, once however often the request comes.
 *
 * @param choose the source, from the members of a body that is an object
 */
export async function takeEvents(
  request: EventRequest,
  { bodies, receive, idempotency, config }: IngestParts,
  choose: (fields: SourceFields) => Source,
): Promise<Received> {
  const { bytes, format } = getBody(request.body);
  const caller = getCaller(request);
  const pinnedProject = pinnedProjectOf(caller);
  const project = chooseProject(headerText(request, 'x-project'), pinnedProject) ?? config.defaultProject;
  const key = headerText(request, 'idempotency-key');
  const bodyHash = key === undefined ? '' : hash('sha256', bytes); // before the bytes are handed over
  const body = await bodies.open(bytes, format);
  try {
    const source = choose(body.fields);
    requireSource(caller, source);
    const work = (token?: string) => receive(source, body, { project, pinnedProject, token });
    const scope = `${caller.keyId}\0${source.id}\0${project}`;
    const received =
      key === undefined ? await work() : await idempotency.once({ key, scope, bodyHash }, work);
    request.detail = { source: source.name, stored: received.stored, refused: received.refused };
    return received;
  } finally {
    body.drop();
  }
}

/** @throws TailraceError `forbidden` where the pins of a key say nothing of events, which would make them void */
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

function requireSource({ sources }: Caller, source: Source): void {
  if (isListed(sources, source)) return;
  const message = `the key may not send to ${source.name}; it may send to ${sources?.join(', ')}`;
  throw new TailraceError('forbidden', message, { refusal: 'source' });
}

/** A header's text; `undefined` where it is missing or empty. */
function headerText(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
