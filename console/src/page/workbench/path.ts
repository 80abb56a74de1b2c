import type { DraftCheck, SearchDraftView } from '../../../../src/management/workbench-view.ts';
import type { Client } from '../../api/client.ts';
import { actionPath } from './use-save-file.ts';
import type { Base } from './work.ts';

const PARAMETER = 'p.';

/** The path of the file of a new alert. @param values of the parameters of the endpoint */
export function newAlertPath(endpoint: string, values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== '');
  const query = new URLSearchParams({ endpoint });
  for (const [name, value] of given) query.set(PARAMETER + name, value);
  return `/workbench/alert?${query}`;
}

/** The path of the file of an alert; empty: a new one. */
export function alertFilePath(name: string): string {
  return name === '' ? '/workbench/alert' : `/workbench/alert?${new URLSearchParams({ name })}`;
}

/** The path of the files of an endpoint; empty: a new one. */
export function endpointFilesPath(name: string): string {
  return name === '' ? '/workbench' : `/workbench?${new URLSearchParams({ endpoint: name })}`;
}

/** The path of the file of a new alert on a search. @param parameters of `GET /api/search`; empty ones are left out */
export function searchAlertPath(parameters: Readonly<Record<string, string>>): string {
  return `/workbench/alert?${searchQuery(parameters)}`;
}

/** The state in the URL of these. */
export function parseAlertUrl(search: string) {
  const query = new URLSearchParams(search);
  const values = [...query].flatMap(([name, value]) =>
    name.startsWith(PARAMETER) ? [[name.slice(PARAMETER.length), value] as const] : [],
  );
  return {
    name: query.get('name') ?? '',
    endpoint: query.get('endpoint') ?? '',
    search: parseFromSearch(search),
    values: Object.fromEntries(values),
  };
}

const SEARCH = 'search';

/** The path of the workbench with a search as a new endpoint. @param parameters of `GET /api/search`; empty ones are left out */
export function fromSearchPath(parameters: Readonly<Record<string, string>>): string {
  return `/workbench?${searchQuery(parameters)}`;
}

function searchQuery(parameters: Readonly<Record<string, string>>): URLSearchParams {
  const sent = Object.entries(parameters).filter(([, value]) => value !== '');
  return new URLSearchParams({ [SEARCH]: new URLSearchParams(sent).toString() });
}

/** The parameters of the search that the workbench opens, as a query string; empty: none. @param url query string of the page */
export function parseFromSearch(url: string): string {
  return new URLSearchParams(url).get(SEARCH) ?? '';
}

/** Has a search written as the files of an endpoint. @throws ApiError */
export async function readFromSearch(client: Client, search: string, signal?: AbortSignal): Promise<Base> {
  const { definition, sql, test, values } = await readSearchDraft(client, search, signal);
  return { definition, sql, version: null, values, test: test ?? '' };
}

/** Has a search written as an endpoint for an alert, which is not saved. @throws ApiError */
export async function readSearchEndpoint(client: Client, search: string, signal: AbortSignal) {
  const { name, definition, sql, test, values } = await readSearchDraft(client, search, signal);
  const { columns, parameters } = await client.call<DraftCheck>(
    actionPath('endpoints', 'check'),
    ['columns', 'parameters'],
    { method: 'POST', body: { definition, sql }, signal },
  );
  return {
    ...{ name, columns, parameters, definition, sql, test },
    description: `Events match: ${new URLSearchParams(search).get('q') || 'all'}`,
    values: { project: values['project'] ?? '' }, // its range would stand still
  };
}

function readSearchDraft(client: Client, search: string, signal?: AbortSignal): Promise<SearchDraftView> {
  const needs = ['name', 'definition', 'sql', 'test', 'values'] as const;
  return client.call<SearchDraftView>(`/api/search/endpoint?${search}`, needs, { signal });
}
