import type { DraftCheck, SearchDraftView } from '../../../../src/management/workbench-view.ts';
import type { Client } from '../../api/client.ts';
import { toQuery, type Values, withQuery } from '../../format/values.ts';
import { actionPath } from './work.ts';

const PARAMETER = 'p.';

/** The path of the file of a new alert. @param values of the parameters of the endpoint */
export function newAlertPath(endpoint: string, values: Values): string {
  const given = Object.entries(values).map(([name, value]) => [PARAMETER + name, value]);
  return withQuery('/workbench/alert', { endpoint, ...Object.fromEntries(given) });
}

export function alertFilePath(name: string): string {
  return withQuery('/workbench/alert', { name });
}

/** The path of the files of an endpoint; empty: a new one. */
export function endpointFilesPath(name: string): string {
  return withQuery('/workbench', { endpoint: name });
}

/** The path of a new endpoint, or a new alert, on a search. @param parameters of `GET /api/search` */
export function onSearchPath(page: '/workbench' | '/workbench/alert', parameters: Values): string {
  return withQuery(page, { search: toQuery(parameters) });
}

export function parseWorkUrl(url: string) {
  const query = new URLSearchParams(url);
  const values = [...query].flatMap(([name, value]) =>
    name.startsWith(PARAMETER) ? [[name.slice(PARAMETER.length), value] as const] : [],
  );
  return {
    name: query.get('name') ?? '',
    endpoint: query.get('endpoint') ?? '',
    /** Parameters of a search, as a query string. */
    search: query.get('search') ?? '',
    values: Object.fromEntries(values),
  };
}

/** Has a search written as the files of an endpoint, which are not saved. @throws ApiError */
export async function readFromSearch(client: Client, search: string, signal: AbortSignal) {
  const needs = ['name', 'definition', 'sql', 'test', 'values'] as const;
  const draft = await client.call<SearchDraftView>(`/api/search/endpoint?${search}`, needs, { signal });
  return { ...draft, version: null, test: draft.test ?? '' };
}

/** The same with what an alert on it needs to know of it. @throws ApiError */
export async function readSearchEndpoint(client: Client, search: string, signal: AbortSignal) {
  const draft = await readFromSearch(client, search, signal);
  const { definition, sql, values } = draft;
  const path = actionPath('endpoints', 'check');
  const needs = ['columns', 'parameters'] as const;
  const { columns, parameters } = await client.post<DraftCheck>(path, needs, { definition, sql }, signal);
  return {
    ...{ ...draft, columns, parameters },
    description: `Events match: ${new URLSearchParams(search).get('q') || 'all'}`,
    values: { project: values['project'] ?? '' }, // its range would stand still
  };
}
