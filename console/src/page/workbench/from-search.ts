import type { SearchDraftView } from '../../../../src/management/view.ts';
import type { Client } from '../../api/client.ts';
import type { Base } from './use-files.ts';

const PARAMETER = 'search';

/** The path of the workbench with a search as a new endpoint. @param parameters of `GET /api/search`; empty ones are left out */
export function fromSearchPath(parameters: Readonly<Record<string, string>>): string {
  const sent = Object.entries(parameters).filter(([, value]) => value !== '');
  return `/workbench?${new URLSearchParams({ [PARAMETER]: new URLSearchParams(sent).toString() })}`;
}

/** The parameters of the search that the workbench opens, as a query string; empty: none. @param url query string of the page */
export function parseFromSearch(url: string): string {
  return new URLSearchParams(url).get(PARAMETER) ?? '';
}

/** Has a search written as the files of an endpoint. @throws ApiError */
export async function readFromSearch(client: Client, search: string, signal?: AbortSignal): Promise<Base> {
  const draft = await client.call<SearchDraftView>(
    `/api/search/endpoint?${search}`,
    ['definition', 'sql', 'test', 'values'],
    { signal },
  );
  const { definition, sql, test, values } = draft;
  return { definition, sql, version: null, values, test: test ?? '' };
}
