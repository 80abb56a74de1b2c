import { type LastRange, parseLast } from '../../format/range.ts';
import { formatMeasure, parseMeasure, TOPS } from './histogram/measure.ts';

/** The content of Explore's address: everything but the key. `?q=level:error&source=postgres.logs&range=6h` */
export interface ExploreAddress {
  readonly q: string;
  /** Names of sources; none: all that the key may search. */
  readonly source: readonly string[];
  readonly project: string;
  /** Left out if `from` and `until` are set. */
  readonly range: LastRange | undefined;
  /** ISO 8601, UTC; both or none. */
  readonly from: string | undefined;
  readonly until: string | undefined;
  /** Field of the histogram's series. */
  readonly by: string;
  /** What the chart shows of the events (histogram/measure.ts); empty: how many there are. */
  readonly measure: string;
  /** How many series the chart has; undefined: the default. */
  readonly top: number | undefined;
  /** Fields shown beside the message. */
  readonly columns: readonly string[];
  readonly live: boolean;
  /** Whether the lines are shown in the order of time. */
  readonly oldestFirst: boolean;
  /** What is shown of the events. */
  readonly view: ExploreView;
  /** How the events are divided for a comparison (analysis/compare-sets.ts). */
  readonly compare: string;
  /** A range within the range to compare with the rest: `<from>/<until>`, ISO 8601. */
  readonly mark: string;
  /** Identifies a line to show and mark (lines/line.ts). */
  readonly at: string;
}

export const VIEWS = [
  { id: 'lines', label: 'Lines' },
  { id: 'patterns', label: 'Patterns' },
  { id: 'compare', label: 'Compare' },
  { id: 'timeline', label: 'Timeline' },
] as const;

export type ExploreView = (typeof VIEWS)[number]['id'];

const NONE: ExploreAddress = {
  q: '',
  source: [],
  project: '',
  range: '1h',
  from: undefined,
  until: undefined,
  by: 'level',
  measure: '',
  top: undefined,
  columns: [],
  live: false,
  oldestFirst: false,
  view: 'lines',
  compare: '',
  mark: '',
  at: '',
};

/** Reads a query string with or without `?`; unreadable parts count as left out. */
export function parseAddress(search: string): ExploreAddress {
  const query = new URLSearchParams(search);
  const text = (name: string) => query.get(name) ?? '';
  const times = { from: text('from'), until: text('until') };
  const isAbsolute = !Number.isNaN(Date.parse(times.from)) && !Number.isNaN(Date.parse(times.until));
  return {
    ...NONE,
    q: text('q'),
    source: parseList(query.getAll('source')),
    project: text('project'),
    ...(isAbsolute ? { ...times, range: undefined } : { range: parseLast(text('range')) ?? NONE.range }),
    by: text('by') || NONE.by,
    measure: formatMeasure(parseMeasure(text('measure'))),
    top: TOPS.find((count) => String(count) === text('top')),
    columns: parseList(query.getAll('columns')),
    live: text('live') === '1',
    oldestFirst: text('order') === 'oldest',
    view: VIEWS.find(({ id }) => id === text('view'))?.id ?? NONE.view,
    compare: text('compare'),
    mark: text('mark'),
    at: text('at'),
  };
}

/** The query string without `?`; defaults are left out, so equal views have equal addresses. */
export function formatAddress(address: Partial<ExploreAddress>): string {
  const { q, source, project, range, from, until, by, columns, live, ...rest } = {
    ...NONE,
    ...address,
  };
  const { measure, top, oldestFirst, view, compare, mark, at } = rest;
  const isAbsolute = from !== undefined && until !== undefined;
  const entries = {
    q,
    source: source.join(','),
    project,
    range: isAbsolute || range === undefined || range === NONE.range ? '' : range,
    from: isAbsolute ? from : '',
    until: isAbsolute ? until : '',
    by: by === NONE.by ? '' : by,
    ...{ measure, top: top === undefined ? '' : String(top) },
    columns: columns.join(','),
    live: live ? '1' : '',
    order: oldestFirst ? 'oldest' : '',
    view: view === NONE.view ? '' : view,
    ...{ compare, mark },
    at,
  };
  return new URLSearchParams(Object.entries(entries).filter(([, value]) => value !== '')).toString();
}

/** The path of Explore for a link: `/explore?q=level%3Aerror`. */
export function explorePath(address: Partial<ExploreAddress>): string {
  const query = formatAddress(address);
  return query === '' ? '/explore' : `/explore?${query}`;
}

// A comma within quotes belongs to the name of a field: headers."a,b".
const ITEM = /(?:"(?:\\.|[^"\\])*"|[^,"])+/g;

function parseList(texts: readonly string[]): string[] {
  const items = texts.flatMap((text) => text.match(ITEM) ?? []).map((item) => item.trim());
  return [...new Set(items)].filter((item) => item !== '');
}
