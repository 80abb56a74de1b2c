import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { EndpointView } from '../../../../src/management/view.ts';
import { parseList } from '../explore/address.ts';

export type View = 'chart' | 'table' | 'json';

/** The part of a view that is in its URL, so that a shared URL shows the same. */
export interface UrlState {
  /** Values of the declared parameters; empty ones are left out. */
  readonly values: Readonly<Record<string, string>>;
  /** Undefined: the first tab of the answer. */
  readonly view: View | undefined;
  /** Logs only: what shown lines must match, as a search. */
  readonly filter: string;
  /** Logs only: follow newer lines. */
  readonly live: boolean;
  /** Logs only: fields shown beside the message. */
  readonly columns: readonly string[];
  /** Logs only: of a line to mark (ui/lines/line.ts). */
  readonly at: string;
}

// Names of parameters have no dots, so these cannot collide.
const VIEW = 'ui.view';
const FILTER = 'ui.filter';
const LIVE = 'ui.live';
const COLUMNS = 'ui.columns';
const AT = 'ui.at';
const VIEWS: readonly string[] = ['chart', 'table', 'json'] satisfies View[];

export function parseUrl(search: string, { parameters }: Pick<EndpointView, 'parameters'>): UrlState {
  const query = new URLSearchParams(search);
  const values = parameters.flatMap(({ name }) => {
    const value = query.get(name) ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  const view = query.get(VIEW) ?? '';
  return {
    values: Object.fromEntries(values),
    view: VIEWS.includes(view) ? (view as View) : undefined,
    filter: query.get(FILTER) ?? '',
    live: query.get(LIVE) === '1',
    columns: parseList(query.getAll(COLUMNS)),
    at: query.get(AT) ?? '',
  };
}

export function formatUrl({ values, view, filter, live, columns, at }: UrlState): string {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''));
  if (view !== undefined) query.set(VIEW, view);
  if (filter !== '') query.set(FILTER, filter);
  if (live) query.set(LIVE, '1');
  if (columns.length > 0) query.set(COLUMNS, columns.join(','));
  if (at !== '') query.set(AT, at);
  return query.toString();
}

/** The state in the URL and a setter. New values add a history entry, so the back button undoes them. */
export function useUrlState(
  endpoint: Pick<EndpointView, 'parameters'>,
): [UrlState, (change: Partial<UrlState>) => void] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const state = useMemo(() => parseUrl(search, endpoint), [search, endpoint]);
  const change = useCallback(
    (part: Partial<UrlState>) => {
      // A line to mark belongs to the range that was opened with it.
      const text = formatUrl({ ...state, ...(part.values !== undefined && { at: '' }), ...part });
      navigate(text === '' ? path : `${path}?${text}`, { replace: part.values === undefined });
    },
    [state, path, navigate],
  );
  return [state, change];
}
