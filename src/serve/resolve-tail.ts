import type { IncomingHttpHeaders } from 'node:http';
import { hasNewestFirst } from '../definitions/pages.ts';
import { TailraceError } from '../errors.ts';
import type { Cursors } from '../query/cursor.ts';
import { NDJSON_FORMAT } from '../query/format.ts';
import type { RawParameters } from '../query/parameters.ts';
import { parsePinnedParameters } from '../query/pins.ts';
import type { Position } from '../query/position.ts';
import { createQuestion, type Question } from '../query/question.ts';
import { type Inquiry, requireEndpoint } from './resolve.ts';

export interface ResolvedTail {
  /** Of the first page. */
  readonly question: Question;
  /** Where the caller goes on. */
  readonly position: Position | undefined;
}

type TailInquiry = Pick<Inquiry, 'caller' | 'endpoint' | 'parameters' | 'headers'>;

/**
 * Endpoint, parameters and pins → the question to follow. `Last-Event-ID` counts before `cursor`, which stays in the URL of a client
 * that connects again.
 *
 * @throws TailraceError `forbidden`, `not_acceptable` for an endpoint that cannot be followed, `invalid_parameter`
 */
export function createResolveTail({ cursors, parameterBytesMax: bytesMax }: ResolveTailOptions) {
  return ({ caller, endpoint, parameters, headers }: TailInquiry): ResolvedTail => {
    requireEndpoint(caller, endpoint);
    const { name, pages } = endpoint;
    if (pages === undefined)
      throw notFollowed(`${name} has no live tail, which needs a "cursor" in its definition`);
    if (!hasNewestFirst(pages))
      throw notFollowed(`${name} has no live tail, which needs rows with the newest "timestamp" first`);
    const values = parsePinnedParameters(endpoint, parameters, { pins: caller.pins, bytesMax });
    const position = cursors.read(endpoint, values, withLastId(parameters, headers));
    return { question: createQuestion(endpoint, values, NDJSON_FORMAT), position };
  };
}

interface ResolveTailOptions {
  readonly cursors: Cursors;
  readonly parameterBytesMax: number;
}

function withLastId(parameters: RawParameters, headers: IncomingHttpHeaders): RawParameters {
  const cursor = headers['last-event-id'];
  return typeof cursor === 'string' && cursor !== '' ? { ...parameters, cursor } : parameters;
}

function notFollowed(message: string): TailraceError {
  return new TailraceError('not_acceptable', `${message}; accept application/json or */*`);
}
