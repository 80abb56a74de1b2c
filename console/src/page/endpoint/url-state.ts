import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { EndpointView } from '../../../../src/management/view.ts';

export type View = 'chart' | 'table' | 'json';

/** All of a view that is in its address, so that whoever gets the address sees the same. */
export interface UrlState {
  /** Values of the declared parameters; empty ones are left out. */
  readonly values: Readonly<Record<string, string>>;
  /** Undefined: the first that the answer has. */
  readonly view: View | undefined;
  /** Of logs: what the shown entries must contain. */
  readonly filter: string;
  /** Of logs: newer entries are looked for. */
  readonly live: boolean;
}

// No parameter can be called so: their names have no dots.
const VIEW = 'ui.view';
const FILTER = 'ui.filter';
const LIVE = 'ui.live';
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
  };
}

export function formatUrl({ values, view, filter, live }: UrlState): string {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''));
  if (view !== undefined) query.set(VIEW, view);
  if (filter !== '') query.set(FILTER, filter);
  if (live) query.set(LIVE, '1');
  return query.toString();
}

/** The state in the address, and how to change a part of it: new values are a step that the back button undoes. */
export function useUrlState(
  endpoint: Pick<EndpointView, 'parameters'>,
): [UrlState, (change: Partial<UrlState>) => void] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const state = useMemo(() => parseUrl(search, endpoint), [search, endpoint]);
  const change = useCallback(
    (part: Partial<UrlState>) => {
      const text = formatUrl({ ...state, ...part });
      navigate(text === '' ? path : `${path}?${text}`, { replace: part.values === undefined });
    },
    [state, path, navigate],
  );
  return [state, change];
}
