import { createHash } from 'node:crypto';
import type { EventFilter } from '../../definitions/event-filter.ts';
import type { Source } from '../../definitions/source.ts';
import { parseField, parseSearch } from '../../search/parse.ts';
import type { Event } from '../event.ts';
import { createMatch, createReadText, type Match } from './match.ts';
import { createRedact } from './redact.ts';

/** Terms of one search of a source's file. */
export const CLAUSES_MAX = 32;

/** The rules of a source's file, in the order in which they apply. */
export const FILTER_RULES = ['drop', 'sample', 'redact'] as const;

/** Events to which each rule applied. */
export type FilterCounts = Record<(typeof FILTER_RULES)[number], number>;

export const createFilterCounts = (): FilterCounts => ({ drop: 0, sample: 0, redact: 0 });

/** Returns what is stored of an event: itself, or with texts replaced; `undefined` if it is not stored. Counts the rule that applied. */
export type Filter = (event: Event, counts: FilterCounts) => Event | undefined;

/** By id of the source. */
const filters = new Map<string, { readonly text: string; readonly filter: Filter }>();

/** Returns the rules of a source's file, compiled when they change; `undefined` if it has none. */
export function findFilter(source: Source): Filter | undefined {
  if (source.filter === undefined) return undefined;
  const text = JSON.stringify(source); // a decoding thread gets a copy of the source with each body
  const known = filters.get(source.id);
  if (known?.text === text) return known.filter;
  const filter = createFilter(source, source.filter);
  filters.set(source.id, { text, filter });
  return filter;
}

// Within both bounds the largest body that is decoded inline takes at most twice its time.
const INLINE_PATHS_MAX = 4;
const INLINE_SEARCH_CHARS_MAX = 1_000;

/** Whether the rules of a source may take long, as patterns of RE2 do: its events are decoded on a thread, however few. */
export function isSlowFilter({ filter }: Pick<Source, 'filter'>): boolean {
  if (filter === undefined) return false;
  const searches = [...filter.drop, filter.sample?.unless ?? ''].join('');
  if (searches.length > INLINE_SEARCH_CHARS_MAX) return true;
  const paths = filter.redact.map((rule) => ('paths' in rule ? rule.paths.length : INLINE_PATHS_MAX + 1));
  return paths.reduce((sum, count) => sum + count, 0) > INLINE_PATHS_MAX;
}

function createFilter(source: Source, { drop, sample, redact }: EventFilter): Filter {
  const dropped = drop.map((search) => createSearchMatch(search, source));
  const isSampledOut = createSample(source, sample);
  const change = redact.length === 0 ? undefined : createRedact(source, redact);
  return (event, counts) => {
    if (dropped.some((match) => match(event))) return count('drop');
    if (isSampledOut(event)) return count('sample');
    const changed = change?.(event) ?? event;
    if (changed !== event) counts.redact++;
    return changed;

    function count(rule: keyof FilterCounts): undefined {
      counts[rule]++;
    }
  };
}

function createSearchMatch(search: string, source: Source): Match {
  const tree = parseSearch(search, CLAUSES_MAX);
  return tree === undefined ? () => true : createMatch(tree, source);
}

/** Events of one trace are all kept or all left out: by a hash of the trace, so every replica decides the same. */
function createSample(source: Source, sample: EventFilter['sample']): Match {
  if (sample === undefined) return () => false;
  const { keep, unless, by } = sample;
  const isKept = unless === undefined ? () => false : createSearchMatch(unless, source);
  const readTrace = createReadText(parseField(by, 'by'), source);
  return (event) => !isKept(event) && shareOf(readTrace(event) || event.id) >= keep;
}

const SHARE_BYTES = 6;

/** Returns a number from 0 to 1, evenly spread over texts. */
function shareOf(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, SHARE_BYTES) / 2 ** (8 * SHARE_BYTES);
}
