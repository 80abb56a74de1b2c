import type { IncomingHttpHeaders } from 'node:http';
import { hasNewestFirst } from '../definitions/pages.ts';
import type { Registry } from '../definitions/registry.ts';
import { TailraceError } from '../errors.ts';
import type { Cursors } from '../query/cursor.ts';
import { NDJSON_FORMAT } from '../query/format.ts';
import type { RawParameters } from '../query/parameters.ts';
import { parsePinnedParameters } from '../query/pins.ts';
import { createQuestion } from '../query/question.ts';
import type { TailRequest } from '../tail/tails.ts';
import type { Inquiry } from './resolve.ts';

/** The question that a caller follows, and the position at which it continues. */
export type ResolvedTail = Pick<TailRequest, 'question' | 'window' | 'isCurrent' | 'position'>;

type TailInquiry = Pick<Inquiry, 'caller' | 'endpoint' | 'parameters' | 'headers'>;

/**
 * Turns endpoint, parameters and pins into the question to follow. `Last-Event-ID` takes precedence over `cursor`,
 * which stays in the URL of a client that connects again.
 *
 * @throws TailraceError `forbidden`, `not_acceptable` for an endpoint that cannot be followed, `invalid_parameter`
 */
export function createResolveTail({ registry, cursors }: ResolveTailOptions) {
  return ({ caller, endpoint, parameters, headers }: TailInquiry): ResolvedTail => {
    const { name, pages } = endpoint;
    if (pages === undefined)
      throw notFollowed(`${name} has no live tail, which needs a "cursor" in its definition`);
    if (!hasNewestFirst(pages))
      throw notFollowed(`${name} has no live tail, which needs rows with the newest "timestamp" first`);
    const values = parsePinnedParameters(endpoint, parameters, { pins: caller.pins });
    const position = cursors.read(endpoint, values, withLastId(parameters, headers));
    return {
      question: createQuestion(endpoint, values, NDJSON_FORMAT),
      position,
      isCurrent: () => registry.findEndpoint(endpoint.id)?.fileHash === endpoint.fileHash,
    };
  };
}

interface ResolveTailOptions {
  readonly registry: Pick<Registry, 'findEndpoint'>;
  readonly cursors: Cursors;
}

/** Returns the parameters with `Last-Event-ID` as the cursor. */
export function withLastId(parameters: RawParameters, headers: IncomingHttpHeaders): RawParameters {
  const cursor = headers['last-event-id'];
  return typeof cursor === 'string' && cursor !== '' ? { ...parameters, cursor } : parameters;
}

/** @param message says what has no live tail */
export function notFollowed(message: string): TailraceError {
  return new TailraceError('not_acceptable', `${message}; accept application/json or */*`);
}
