import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../config/config.ts';
import { hasNewestFirst } from '../definitions/pages.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Source } from '../definitions/source.ts';
import type { FilledTables } from '../engine/write-marks.ts';
import { TailraceError } from '../errors.ts';
import { mayRead } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { getReadableSource } from '../keys/named.ts';
import { MICROS_PER_MINUTE, type Micros } from '../lib/instant.ts';
import type { Cursors } from '../query/cursor.ts';
import { findNamedFormat, NDJSON_FORMAT } from '../query/format.ts';
import { invalidParameters, type RawParameters } from '../query/parameters.ts';
import { parsePinnedParameters } from '../query/pins.ts';
import { bindPosition } from '../query/position.ts';
import { createQuestion } from '../query/question.ts';
import { createDraft, type SearchDraft } from '../search/draft/draft.ts';
import { createSearch, SEARCH } from '../search/search.ts';
import type { TailRequest } from '../tail/member.ts';
import { chooseEncoding, chooseFormat, type Inquiry, readDirectives } from './resolve.ts';

export interface ResolveSearchOptions {
  readonly registry: Registry;
  readonly cursors: Cursors;
  readonly limits: Pick<Config, 'searchBytesMax' | 'searchClausesMax'>;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly filled: FilledTables;
}

export type SearchSteps = ReturnType<typeof createSearchSteps>;

// Of a search, and of any other parameter of /api/search, else 400: longer than any that a person or a saved link has.
const SEARCH_BYTES_MAX = 8_192;
const TAIL_ROWS_MIN = 100;
// Each tick reads it, for rows that come late: otherwise it would search the whole range for rare rows four times a second.
const TAIL_WINDOW: Micros = 15 * MICROS_PER_MINUTE;

type SearchInquiry = Pick<Inquiry, 'caller' | 'parameters' | 'headers' | 'accepts'>;

/** Turns searches into questions. */
export function createSearchSteps({ registry, cursors, limits, now, filled }: ResolveSearchOptions) {
  const { mayHaveRows } = filled;
  const { searchBytesMax: bytesMax = SEARCH_BYTES_MAX } = limits;

  function check(caller: Caller, raw: RawParameters) {
    requireReader(caller);
    const joined = { ...raw, source: joinList(raw['source']) };
    const values = parsePinnedParameters(SEARCH, joined, { pins: caller.pins, bytesMax });
    return { values, sources: findSources(registry, caller, values['source'] ?? '') };
  }

  /** The question that a live tail follows, and its values before they are bound to it. */
  function createTail(caller: Caller, raw: RawParameters) {
    const { values: checked, sources } = check(caller, raw);
    if (checked['part'] !== 'rows')
      throw notFollowed(`part=${checked['part']} has no live tail, which needs part=rows`);
    // A tail that reads page after page of a few rows would be slow.
    const limit = String(Math.max(Number(checked['limit'] ?? ''), TAIL_ROWS_MIN));
    return createSearch({ ...checked, limit }, { sources, nowMs: now(), limits, isTail: true, mayHaveRows });
  }

  return {
    /**
     * Returns the sources that a caller may search, including internal ones.
     *
     * @throws TailraceError `forbidden` if it may search none
     */
    findSearchable(caller: Caller): readonly Source[] {
      check(caller, {});
      return registry.sources.filter((source) => mayRead(caller, source));
    },
    /**
     * Turns sources, search, range and pins into a question.
     *
     * @throws TailraceError `forbidden`, `source_not_found`, `not_acceptable`, `invalid_parameter`
     */
    resolveSearch({ caller, parameters: raw, headers, accepts }: SearchInquiry) {
      requireReader(caller);
      const named = findNamedFormat(SEARCH, raw);
      const { values: checked, sources } = check(caller, raw);
      const { endpoint, values, describeDoubts } = createSearch(checked, {
        ...{ sources, nowMs: now(), limits, mayHaveRows },
      });
      const format = named ?? chooseFormat(accepts, endpoint);
      const position = cursors.read(endpoint, values, raw);
      const bound = { ...values, ...bindPosition(endpoint.pages, position) };
      const question = createQuestion(endpoint, bound, format);
      const directives = readDirectives(headers);
      return { question, encoding: chooseEncoding(accepts), directives, describeDoubts };
    },
    /** Writes a search as the files of an endpoint. @throws TailraceError as `resolveSearch` */
    draftSearch(caller: Caller, raw: RawParameters): SearchDraft {
      const { values, sources } = check(caller, raw);
      const isTaken = (name: string) => registry.findEndpoint(name) !== undefined;
      return createDraft(values, { sources, nowMs: now(), limits }, isTaken);
    },
    /**
     * Turns a search into the question of a live tail.
     *
     * @throws TailraceError `forbidden`, `source_not_found`, `not_acceptable`, `invalid_parameter`
     */
    resolveSearchTail({ caller, parameters: raw, headers }: Omit<SearchInquiry, 'accepts'>): ResolvedTail {
      const { endpoint, values } = createTail(caller, raw);
      const first = { ...values, ...bindPosition(endpoint.pages) };
      return {
        question: createQuestion(endpoint, first, NDJSON_FORMAT),
        position: cursors.read(endpoint, values, withLastId(raw, headers)),
        window: TAIL_WINDOW,
        isCurrent() {
          try {
            return createTail(caller, raw).endpoint.fileHash === endpoint.fileHash;
          } catch {
            return false; // a source that it names is gone
          }
        },
      };
    },
  };
}

/**
 * Rejects a key that is limited to endpoints: it reads what those return, not events themselves.
 *
 * @throws TailraceError `forbidden`
 */
function requireReader({ endpoints }: Caller): void {
  if (endpoints === undefined) return;
  const message = `the key may not search: it may read only ${endpoints.join(', ')}`;
  throw new TailraceError('forbidden', message, { rejectReason: 'endpoint' });
}

function joinList(sent: RawParameters[string]): string | undefined {
  return sent === undefined || typeof sent === 'string' ? sent : sent.join(',');
}

/**
 * Returns the named sources, or all that the key may read and that senders write.
 *
 * @throws TailraceError `forbidden`, `source_not_found`
 */
function findSources(registry: Registry, caller: Caller, named: string): readonly Source[] {
  const names = [...new Set(named.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  const found = [...new Set(names.map((name) => getReadableSource(registry, caller, name)))];
  if (found.length > 0) return found;
  if (named !== '') throw invalidParameters([{ parameter: 'source', message: 'must name a source' }]);
  const all = registry.sources.filter((source) => source.isInternal !== true && mayRead(caller, source));
  if (all.length > 0) return all;
  throw new TailraceError('forbidden', 'the key cannot read any source of this service', {
    rejectReason: 'source',
  });
}

/** The question that a caller follows, and the position at which it continues. */
export type ResolvedTail = Pick<TailRequest, 'question' | 'window' | 'isCurrent' | 'position'>;

type TailInquiry = Pick<Inquiry, 'caller' | 'endpoint' | 'parameters' | 'headers'>;

/**
 * Turns endpoint, parameters and pins into the question to follow. `Last-Event-ID` takes precedence over `cursor`,
 * which stays in the URL of a client that connects again.
 *
 * @throws TailraceError `forbidden`, `not_acceptable` for an endpoint that cannot be followed, `invalid_parameter`
 */
export function createResolveTail({ registry, cursors }: Pick<ResolveSearchOptions, 'registry' | 'cursors'>) {
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

/** Returns the parameters with `Last-Event-ID` as the cursor. */
function withLastId(parameters: RawParameters, headers: IncomingHttpHeaders): RawParameters {
  const cursor = headers['last-event-id'];
  return typeof cursor === 'string' && cursor !== '' ? { ...parameters, cursor } : parameters;
}

/** @param message says what has no live tail */
function notFollowed(message: string): TailraceError {
  return new TailraceError('not_acceptable', `${message}; accept application/json or */*`);
}
