import type { Endpoint } from '../definitions/endpoint.ts';
import { findNamed } from '../definitions/registry.ts';
import { listSources, type SavedSearch } from '../definitions/saved-search.ts';
import type { Source } from '../definitions/source.ts';
import { type Fault, TailraceError } from '../errors.ts';
import { parseInstant } from '../lib/instant.ts';
import { parseParameters } from '../query/parameters.ts';
import { verifyCondition } from './condition.ts';
import { nameColumns, parseMeasure, readHistogram } from './histogram.ts';
import { parseField, parseSearch } from './parse.ts';
import { SEARCH } from './search.ts';

// Terms of one definition; callers add their own.
const CLAUSES_MAX = 32;

/** Checks that `search` of each parameter is a field and that of each column a search. */
export function verifySearches(endpoints: readonly Endpoint[]): Fault[] {
  return endpoints.flatMap(({ parameters, columns, fault }) => {
    const check = (of: 'parameters' | 'columns', name: string, parse: () => unknown) => {
      const message = messageOfFault(parse);
      return message ? (fault?.([of, name, 'search'], `"search" of "${name}" ${message}`) ?? []) : [];
    };
    return [
      ...parameters.map(({ name, search }) =>
        check('parameters', name, () => search && parseField(search, 'search')),
      ),
      ...columns.map(({ name, search }) =>
        check('columns', name, () => search && parseSearch(search, CLAUSES_MAX)),
      ),
    ].flat();
  });
}

// As many as a search may have.
const SAVED_CLAUSES_MAX = 128;

/** Checks the texts of saved searches, and that their sources exist. */
export function verifySavedSearches(searches: readonly SavedSearch[], sources: readonly Source[]): Fault[] {
  const known = sources.map(({ name }) => name).join(', ');
  return searches.flatMap((saved) => {
    const unknown = listSources(saved).find((name) => findNamed(sources, name) === undefined);
    const found = {
      ...findWrong(saved.search),
      source: unknown && `names no source ${JSON.stringify(unknown)}; there are ${known}`,
    };
    return Object.entries(found).flatMap(([field, message]) =>
      message ? [saved.fault(['search', field], `"${field}" ${message}`)] : [],
    );
  });
}

// A comma within quotes belongs to the name of a field.
const COLUMN = /(?:"(?:\\.|[^"\\])*"|[^,"])+|"/g;
// As the console reads it: up to ten years.
const LAST = /^([1-9]\d{0,8})([smhdw])$/;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const LAST_SECONDS_MAX = 3_650 * 86_400;

/** Finds texts that `GET /api/search` would reject whatever the search is, or that the console would not read. */
function findWrong(search: SavedSearch['search']) {
  const { q = '', by, measure, columns, range = '', from = '', until = '', mark = '' } = search;
  const check = (name: string) => {
    const parameters = SEARCH.parameters.filter((one) => one.name === name);
    return messageOfFault(() => parseParameters({ ...SEARCH, parameters }, search));
  };
  const [, count, unit = ''] = LAST.exec(range) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? 0);
  const [start, end] = mark.split('/').map(parseInstant);
  const isHalf = (from === '') !== (until === '');
  return {
    q: messageOfFault(() => verifyCondition(parseSearch(q, SAVED_CLAUSES_MAX))),
    by: by && messageOfFault(() => nameColumns(readHistogram({ by, top: search['top'] ?? '' }))),
    measure: messageOfFault(() => parseMeasure(measure || 'count')),
    columns: messageOfFault(() => {
      for (const name of columns?.match(COLUMN) ?? [])
        if (name.trim() !== '') parseField(name.trim(), 'columns');
    }),
    from: isHalf && from ? 'needs "until"; for a range that ends now, write "range"' : check('from'),
    until: isHalf && until ? 'needs "from"; for a range that ends now, write "range"' : check('until'),
    top: check('top'),
    range:
      range &&
      !(seconds <= LAST_SECONDS_MAX) &&
      'must be a length of at most ten years, such as 40m, 6h or 7d; an absolute range has "from" and "until"',
    mark:
      mark &&
      !(Number(start) < Number(end)) &&
      'must be two instants, such as 2026-11-20T07:00:00Z/2026-11-20T08:00:00Z',
  };
}

/** Returns what is wrong with a text; `undefined` if `parse` accepts it. */
export function messageOfFault(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (!(error instanceof TailraceError)) throw error;
    return error.errors[0]?.message;
  }
}
