import { createContext, use, useCallback, useEffect, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { SearchSource } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import { queries, useClient, useRead } from '../../api/queries.ts';
import { offsetOf } from '../../format/range.ts';
import { useZone } from '../../preference.ts';
import { type ExploreAddress, explorePath, formatAddress, parseAddress, readAddress } from './address.ts';
import { useHistogram } from './histogram/use-histogram.ts';
import { addTerm, attributesOf, type Line } from './lines/line.ts';
import { useLines } from './lines/read.ts';
import { isRejected } from './lines/use-work.tsx';
import { resolveSearch, type Search, searchPath } from './search.ts';

/** What the parts of the page share: the address, what is read for it, and what changes it. */
export type Exploring = ReturnType<typeof useAddressedSearch>;

export const ExploringContext = createContext<Exploring>(undefined as never); // the page is around all that use it

export function useExploring(): Exploring {
  return use(ExploringContext);
}

export function useAddressedSearch() {
  const { address, unread, change } = useAddress();
  const { by, top, measure, live, at, columns } = address;
  const [round, setRound] = useState(0);
  const search = useSearchOf(address, round);
  const counted = useSearchOf(address, round + useLiveRound(live));
  const lines = useLines(search, at);
  // The newest page of lines comes before the counts. A search that is rejected has none.
  const isReady = !isRejected(lines.state) && (!lines.isOld || lines.state.kind === 'failed');
  const chart = useMemo(() => ({ by, top, measure }), [by, top, measure]);
  const histogram = useHistogram(counted, chart, isReady);
  return {
    ...{ address, unread, change, search, lines, histogram },
    ...useFields(search, lines.lines),
    refresh: () => setRound((before) => before + 1),
    /** Searches for events that match a term, too. */
    filter: (term: string) => change({ q: addTerm(address.q, term) }),
    toggleColumn: (field: string) =>
      change({
        columns: columns.includes(field) ? columns.filter((one) => one !== field) : [...columns, field],
      }),
  };
}

/** The members that make another search: it adds a history entry, so the back button returns to the previous one. */
const SEARCHED: (keyof ExploreAddress)[] = ['q', 'source', 'project', 'range', 'at'];

/** The address of the page, and a function that changes it. A line to mark belongs to one search, and an absolute range is not live. */
function useAddress() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const pinned = useClient().self.pins['project'];
  const { address, unread } = useMemo(() => readAddress(search), [search]);
  const change = useCallback(
    (part: Partial<ExploreAddress>) => {
      const isOther = SEARCHED.some((name) => name in part);
      const implied = { ...(isOther && { at: '' }), ...(part.range?.kind === 'absolute' && { live: false }) };
      navigate(explorePath({ ...address, ...implied, ...part }), { replace: !isOther });
    },
    [address, navigate],
  );
  const shown = useMemo(() => ({ ...address, project: pinned ?? address.project }), [address, pinned]);
  return { address: shown, unread, change };
}

const LIVE_COUNT_MS = 10_000;

/** A number that grows while the page is live and seen. */
function useLiveRound(live: boolean): number {
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!live) return;
    const timer = setInterval(() => {
      if (!document.hidden) setRound((before) => before + 1);
    }, LIVE_COUNT_MS);
    return () => clearInterval(timer);
  }, [live]);
  return round;
}

/** The search of an address. Another `round` resolves a range that ends now anew. */
function useSearchOf(address: ExploreAddress, round: number): Search {
  const zone = useZone();
  const { q, source, project, range } = address;
  // A text is the same after other changes of the address.
  const asked = formatAddress({ q, source, project, range });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` is how the same is searched again
  return useMemo(() => {
    const nowMs = Date.now();
    const offsetMs = offsetOf(zone)(nowMs / 1000) * 1_000;
    return resolveSearch(parseAddress(asked), nowMs, offsetMs);
  }, [asked, zone, round]);
}

export type FieldName = SearchSource['fields'][number];

export interface FieldValue {
  readonly value: string;
  readonly count: number;
}

const LINES_LOOKED_AT = 50;
const FOUND_MAX = 200;
/** Columns of each event that have another value in almost every one. */
export const UNIQUE: readonly string[] = ['id', 'timestamp', 'event_message', 'metadata'];
/** The service groups by no other names. */
const GROUP_NAME = /^[\w.@$-]{1,200}$/;
const NONE: readonly SearchSource[] = [];

function useFields(search: Search, lines: readonly Line[]) {
  const sources = useRead(queries.searchSources).value?.result ?? NONE;
  const declared = useMemo(() => {
    const searched = sources.filter(({ name, internal }) =>
      search.source.length === 0 ? !internal : search.source.includes(name),
    );
    const all = searched.flatMap(({ fields }) => fields.map((field) => [field.name, field] as const));
    return new Map<string, FieldName>(all);
  }, [sources, search.source]);
  const newest = lines[0]?.key;
  // Further lines rarely have other fields.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const fields = useMemo(() => {
    const all = new Map(declared);
    for (const line of lines.slice(0, LINES_LOOKED_AT)) {
      for (const { field, value: found } of attributesOf(line.metadata)) {
        if (!all.has(field) && all.size < declared.size + FOUND_MAX)
          all.set(field, {
            name: field,
            type: typeof found === 'number' ? 'number' : 'json',
            description: '',
          });
      }
    }
    return [...all.values()];
  }, [declared, newest]);
  return {
    sources,
    /** Fields of the searched sources, then those that the newest lines have. */
    fields,
    /** Names of those whose values may be few, to count by. */
    groups: fields.map(({ name }) => name).filter((name) => !UNIQUE.includes(name) && GROUP_NAME.test(name)),
    /** The path of the most frequent values of a field. @param q which events count */
    valuesPath: (field: string, q = search.q) =>
      searchPath({ ...search, q }, search, { part: 'values', field }),
  };
}

export function toFieldValue({ value, count }: Row): FieldValue {
  return { value: String(value), count: Number(count) };
}
