import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { CacheDirectives } from '../cache/store.ts';
import type { Config } from '../config/config.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { hasNewestFirst } from '../definitions/pages.ts';
import { SQL_PARAMETER } from '../definitions/parameter.ts';
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
import { type RawParameters, rejectParameter } from '../query/parameters.ts';
import { parsePinnedParameters } from '../query/pins.ts';
import { bindPosition } from '../query/position.ts';
import { createQuestion, type Question } from '../query/question.ts';
import type { Sandbox, SandboxOptions } from '../sandbox/sandbox.ts';
import { createDraft, type SearchDraft } from '../search/draft/draft.ts';
import { createSearch, SEARCH } from '../search/search.ts';
import type { TailRequest } from '../tail/member.ts';
import { type Accepts, chooseEncoding, chooseFormat, type Encoding, readDirectives } from './negotiate.ts';

/** The result of resolving a request. */
export interface Resolved {
  readonly question: Question;
  /** Content-Encoding of the response: the best that the caller accepts. */
  readonly encoding: Encoding;
  readonly directives: CacheDirectives;
  /** Value of the header that names unread parameters; `undefined` if there are none. */
  readonly ignored: string | undefined;
}

/** The question that a caller follows, and the position at which it continues. */
export type ResolvedTail = Pick<TailRequest, 'question' | 'window' | 'isCurrent' | 'position'>;

/** A request to an endpoint that the caller may read: src/keys/named.ts. */
export interface Inquiry {
  readonly caller: Caller;
  /** The whole question is in it and in the headers; `undefined` for a POST. */
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly endpoint: Endpoint;
  readonly parameters: RawParameters;
  /** See `Resolved`. */
  readonly ignored: string | undefined;
  /** Matches `Accept` and `Accept-Encoding`. */
  readonly accepts: Accepts;
  /** Checks the SELECT of a caller, if there is one. */
  readonly sandboxed: SandboxOptions;
}

interface ResolveOptions {
  readonly registry: Registry;
  readonly sandbox: Sandbox;
  readonly cursors: Cursors;
  readonly limits: Pick<Config, 'searchBytesMax' | 'searchClausesMax'>;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly filled: FilledTables;
  /** Called if a caller sends `sql` to an endpoint without sandboxing and without a parameter of this name. */
  readonly onIgnoredSql: (endpoint: Endpoint) => void;
}

export type Resolve = ReturnType<typeof createResolve>;

/** The second step of a request: endpoint or search, parameters, pins and negotiation become a question. */
export function createResolve(options: ResolveOptions) {
  return { ...createEndpointSteps(options), ...createSearchSteps(options) };
}

// Characters; beyond it the least recently used are resolved again. At most twice as many bytes.
const REMEMBERED_CHARS_MAX = 4 * 1024 * 1024;
const OVERHEAD_CHARS = 200;

/** Valid for the definitions and the grant that it was resolved with. A reload and a changed key bring new objects. */
interface Remembered extends Resolved {
  readonly endpoints: Registry['endpoints'];
  readonly allowed: Caller['endpoints'];
  readonly pins: Caller['pins'];
}

/** Remembers the result for cacheable URLs: clients repeat them, and resolving costs more than finding the answer. */
function createEndpointSteps({ registry, sandbox, cursors, onIgnoredSql }: ResolveOptions) {
  const remembered = new LRUCache<string, Remembered>({
    maxSize: REMEMBERED_CHARS_MAX,
    sizeCalculation: ({ question, ignored = '' }, name) =>
      name.length + 2 * question.key.length + ignored.length + OVERHEAD_CHARS,
  });

  /** Returns what `resolve` returned for this URL before, if that is still valid. */
  function recall({
    caller,
    url,
    headers,
  }: Pick<Inquiry, 'caller' | 'url' | 'headers'>): Resolved | undefined {
    if (url === undefined) return undefined;
    const known = remembered.get(nameOf(caller, url, headers));
    if (known === undefined || known.endpoints !== registry.endpoints) return undefined;
    return known.allowed === caller.endpoints && known.pins === caller.pins ? known : undefined;
  }

  function read(inquiry: Inquiry): Resolved | Promise<Resolved> {
    const { caller, url, endpoint, parameters, accepts, headers, sandboxed, ignored } = inquiry;
    const format = findNamedFormat(endpoint, parameters) ?? chooseFormat(accepts, endpoint);
    const first = parsePinnedParameters(endpoint, parameters, { pins: caller.pins });
    const position = cursors.read(endpoint, first, parameters);
    const values = { ...first, ...bindPosition(endpoint.pages, position) };
    const encoding = chooseEncoding(accepts);
    const directives = readDirectives(headers);
    const toResolved = (of: Endpoint) => {
      return { question: createQuestion(of, values, format), encoding, directives, ignored };
    };
    if (endpoint.sandboxing) return sandbox(endpoint, parameters, sandboxed).then(toResolved);
    if (ignoresSql(endpoint, parameters)) onIgnoredSql(endpoint);
    const resolved = toResolved(endpoint);
    if (url !== undefined && endpoint.cachingSeconds !== undefined && directives.noStore !== true) {
      const grant = { endpoints: registry.endpoints, allowed: caller.endpoints, pins: caller.pins };
      remembered.set(nameOf(caller, url, headers), { ...resolved, ...grant });
    }
    return resolved;
  }

  return {
    recall,
    /** @throws TailraceError `forbidden`, `not_acceptable`, `invalid_parameter` */
    resolve: (inquiry: Inquiry) => recall(inquiry) ?? read(inquiry),
    /** @throws TailraceError as `resolve`; `not_acceptable` for an endpoint that cannot be followed */
    resolveTail({ caller, endpoint, parameters, headers }: TailInquiry): ResolvedTail {
      const { name, pages } = endpoint;
      if (pages === undefined)
        throw notFollowed(`${name} has no live tail, which needs a "cursor" in its definition`);
      if (!hasNewestFirst(pages))
        throw notFollowed(`${name} has no live tail, which needs rows with the newest "timestamp" first`);
      const values = parsePinnedParameters(endpoint, parameters, { pins: caller.pins });
      return {
        question: createQuestion(endpoint, values, NDJSON_FORMAT),
        position: cursors.read(endpoint, values, withLastId(parameters, headers)),
        isCurrent: () => registry.findEndpoint(endpoint.id)?.fileHash === endpoint.fileHash,
      };
    },
  };
}

type TailInquiry = Pick<Inquiry, 'caller' | 'endpoint' | 'parameters' | 'headers'>;

function ignoresSql({ parameters: declared }: Endpoint, parameters: RawParameters): boolean {
  return Boolean(parameters[SQL_PARAMETER]) && !declared.some(({ name }) => name === SQL_PARAMETER);
}

/** Returns everything of a request that affects the result. No part can contain a newline. */
function nameOf({ keyId, token }: Caller, url: string, headers: IncomingHttpHeaders): string {
  const { accept = '', 'accept-encoding': encodings = '', 'cache-control': directives = '' } = headers;
  return `${token?.id ?? keyId}\n${accept}\n${encodings}\n${directives}\n${url}`;
}

/** Returns the parameters with `Last-Event-ID` as the cursor: `cursor` stays in the URL of a client that connects again. */
function withLastId(parameters: RawParameters, headers: IncomingHttpHeaders): RawParameters {
  const cursor = headers['last-event-id'];
  return typeof cursor === 'string' && cursor !== '' ? { ...parameters, cursor } : parameters;
}

/** @param message says what has no live tail */
function notFollowed(message: string): TailraceError {
  return new TailraceError('not_acceptable', `${message}; accept application/json or */*`);
}

// A longer search, or other parameter of /api/search, gets 400. No person and no saved link has one that long.
const SEARCH_BYTES_MAX = 8_192;
const TAIL_ROWS_MIN = 100;
// Each tick reads it, for rows that come late: otherwise it would search the whole range for rare rows four times a second.
const TAIL_WINDOW: Micros = 15 * MICROS_PER_MINUTE;

type SearchInquiry = Pick<Inquiry, 'caller' | 'parameters' | 'headers' | 'accepts'>;

function createSearchSteps({ registry, cursors, limits, now, filled }: ResolveOptions) {
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
    /** Returns all sources that a caller may search. @throws TailraceError `forbidden` if there are none */
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
      const { values: checked, sources } = check(caller, raw);
      const search = createSearch(checked, { sources, nowMs: now(), limits, mayHaveRows });
      const { endpoint, values, describeDoubts } = search;
      const format = findNamedFormat(SEARCH, raw) ?? chooseFormat(accepts, endpoint);
      const position = cursors.read(endpoint, values, raw);
      const bound = { ...values, ...bindPosition(endpoint.pages, position) };
      return {
        question: createQuestion(endpoint, bound, format),
        encoding: chooseEncoding(accepts),
        directives: readDirectives(headers),
        describeDoubts,
      };
    },
    /** Writes a search as the files of an endpoint. @throws TailraceError as `resolveSearch` */
    draftSearch(caller: Caller, raw: RawParameters): SearchDraft {
      const { values, sources } = check(caller, raw);
      const isTaken = (name: string) => registry.findEndpoint(name) !== undefined;
      return createDraft(values, { sources, nowMs: now(), limits }, isTaken);
    },
    /** Turns a search into the question of a live tail. @throws TailraceError as `resolveSearch` */
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

/** Rejects a key that is limited to endpoints: it reads what those return, not events themselves. */
function requireReader({ endpoints }: Caller): void {
  if (endpoints === undefined) return;
  const message = `the key may not search: it may read only ${endpoints.join(', ')}`;
  throw new TailraceError('forbidden', message, { rejectReason: 'endpoint' });
}

function joinList(sent: RawParameters[string]): string | undefined {
  return sent === undefined || typeof sent === 'string' ? sent : sent.join(',');
}

/** Returns the named sources, or all that the key may read and that senders write. */
function findSources(registry: Registry, caller: Caller, named: string): readonly Source[] {
  const names = [...new Set(named.split(',').map((name) => name.trim()))].filter((name) => name !== '');
  const found = [...new Set(names.map((name) => getReadableSource(registry, caller, name)))];
  if (found.length > 0) return found;
  if (named !== '') throw rejectParameter('source', 'must name a source');
  const all = registry.sources.filter((source) => source.isInternal !== true && mayRead(caller, source));
  if (all.length > 0) return all;
  throw new TailraceError('forbidden', 'the key cannot read any source of this service', {
    rejectReason: 'source',
  });
}
