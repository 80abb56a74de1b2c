import { useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { EndpointView } from '../../../../src/management/view.ts';
import type { View } from '../../ui/chart/drawings.tsx';

export type UrlState = ReturnType<typeof parseUrl>;

// Names of parameters have no dots, so it cannot collide.
const VIEW = 'ui.view';
const VIEWS: readonly string[] = ['chart', 'table', 'json'] satisfies View[];

/** The part of a view that is in its URL, so that a shared URL shows the same. */
export function parseUrl(search: string, { parameters }: Pick<EndpointView, 'parameters'>) {
  const query = new URLSearchParams(search);
  const values = parameters.flatMap(({ name }) => {
    const value = query.get(name) ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  const view = query.get(VIEW) ?? '';
  return {
    /** Values of the declared parameters; empty ones are left out. */
    values: Object.fromEntries(values),
    /** Undefined: the first tab of the answer. */
    view: VIEWS.includes(view) ? (view as View) : undefined,
  };
}

export function formatUrl({ values, view }: UrlState): string {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''));
  if (view !== undefined) query.set(VIEW, view);
  return query.toString();
}

/** The state in the URL and a setter. New values add a history entry, so the back button undoes them. */
export function useUrlState(endpoint: Pick<EndpointView, 'parameters'>) {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const state = useMemo(() => parseUrl(search, endpoint), [search, endpoint]);
  const change = (part: Partial<UrlState>) => {
    const text = formatUrl({ ...state, ...part });
    navigate(text === '' ? path : `${path}?${text}`, { replace: part.values === undefined });
  };
  return [state, change] as const;
}
