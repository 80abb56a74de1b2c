import { createHash } from 'node:crypto';
import type { EventFilter, Redaction } from '../../definitions/event-filter.ts';
import type { Fault } from '../../definitions/fault.ts';
import type { Source } from '../../definitions/source.ts';
import { readYamlFile, type YamlPath } from '../../definitions/yaml-file.ts';
import { verifyCondition } from '../../search/condition.ts';
import { parseField, parseSearch } from '../../search/parse.ts';
import { messageOfFault } from '../../search/verify.ts';
import { createReplace } from '../../sql/text-matcher.ts';
import type { Event } from '../event.ts';
import { createMatch, createReadText, type Match } from './match.ts';
import { createRedact } from './redact.ts';

/** Terms of one search of a source's file. */
const CLAUSES_MAX = 32;

/** The rules of a source's file, in the order in which they apply. */
export const FILTER_RULES = ['drop', 'sample', 'redact'] as const;

/** Events to which each rule applied. */
export type FilterCounts = Record<(typeof FILTER_RULES)[number], number>;

export const createFilterCounts = (): FilterCounts => ({ drop: 0, sample: 0, redact: 0 });

/**
 * Returns what is stored of an event: itself, or with texts replaced; `undefined` if it is not stored. Counts the rule
 * that applied.
 */
type Filter = (event: Event, counts: FilterCounts) => Event | undefined;

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

/** Checks the searches, fields and patterns of `drop`, `sample` and `redact`. */
export async function verifyFilters(sources: readonly Source[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const source of sources)
    for (const [path, message] of findFaults(source)) {
      const yaml = await readYamlFile(source.file);
      faults.push(Array.isArray(yaml) ? { file: source.file, line: 1, message } : yaml.fault(path, message));
    }
  return faults;
}

function* findFaults(source: Source): Generator<readonly [YamlPath, string]> {
  const { filter } = source;
  if (filter === undefined) return;
  for (const [i, search] of filter.drop.entries()) {
    const message = findSearchFault(search);
    if (message !== undefined) yield [['drop', String(i)], `"drop" ${message}`];
  }
  const { unless, by } = filter.sample ?? {};
  const unlessFault = unless === undefined ? undefined : findSearchFault(unless);
  if (unlessFault !== undefined) yield [['sample', 'unless'], `"unless" of "sample" ${unlessFault}`];
  const byFault = by === undefined ? undefined : messageOfFault(() => parseField(by, 'by'));
  if (byFault !== undefined) yield [['sample', 'by'], `"by" of "sample" ${byFault}`];
  for (const [i, rule] of filter.redact.entries()) {
    const message = findRedactionFault(rule, source);
    if (message !== undefined) yield [['redact', String(i)], `"redact" ${message}`];
  }
}

function findSearchFault(search: string): string | undefined {
  return messageOfFault(() => {
    const tree = parseSearch(search, CLAUSES_MAX);
    if (tree !== undefined) verifyCondition(tree);
  });
}

function findRedactionFault(rule: Redaction, { projectPaths, idPaths = [] }: Source): string | undefined {
  if ('pattern' in rule) {
    const replace = createReplace(rule.pattern, rule.replacement);
    return typeof replace === 'string' ? `has a pattern that ${replace}` : undefined;
  }
  const kept = [['id'], ['timestamp'], ['metadata'], ...projectPaths, ...idPaths].map((path) =>
    path.join('.'),
  );
  const named = rule.paths.map((path) => path.join('.')).find((path) => kept.includes(path));
  if (named === undefined) return undefined;
  return (
    `cannot replace ${named}, from which the id, the time, the project or all metadata of an ` +
    'event is read; name other fields'
  );
}
