import { type DefaultOptions, skipToken, useQuery } from '@tanstack/react-query';
import { createContext, use, useRef } from 'react';
import type { Overview } from '../../../src/management/admin-view.ts';
import type { AlertView } from '../../../src/management/alert-view.ts';
import type { DashboardSummary } from '../../../src/management/dashboard-view.ts';
import type {
  EndpointView,
  Me,
  Projects,
  SavedSearchView,
  SearchSource,
  SourceView,
} from '../../../src/management/view.ts';
import type { WorkbenchView } from '../../../src/management/workbench-view.ts';
import { ApiError, type Client, type Needs } from './client.ts';

export const ClientContext = createContext<Client>(undefined as never); // the app is around all that use it

export function useClient(): Client {
  return use(ClientContext);
}

/** Whether a key may search: one that is limited to endpoints reads what those return, and no events by themselves. */
export function maySearch({ scopes, endpoints }: Me): boolean {
  return scopes.includes('query') && endpoints === null;
}

/** Whether more than its scopes limits a key. */
export function isLimited({ endpoints, sources, pins }: Me): boolean {
  return endpoints !== null || sources !== null || Object.keys(pins).length > 0;
}

/** Whether a key may use the workbench, with which it reads every event by any SELECT. */
export function mayUseWorkbench(self: Me): boolean {
  const { scopes, token } = self;
  return scopes.includes('manage') && scopes.includes('query') && !token && !isLimited(self);
}

/** Whether a key may grant a scope: one that it has itself, or `metrics` with `manage`, which reads them, too. */
export function mayGrant({ scopes }: Me, scope: string): boolean {
  return scopes.includes(scope) || (scope === 'metrics' && scopes.includes('manage'));
}

/** One path of the API that several parts of the console read; the path is its key in the cache. */
interface Query<T> {
  readonly queryKey: readonly [path: string];
  /** What an answer has to have: another one is an error. */
  readonly needs: Needs<T>;
  /** An answer is read again by a part that is shown later than that; by default at once. */
  readonly staleTime: number;
}

export interface List<T> {
  readonly result: readonly T[];
}

// Endpoints may be added or removed at any time.
export const ENDPOINTS_EVERY_MS = 60_000;

/** What is read of the API by its path. Runs, searches and pages have keys where they are read: only one part shows them. */
export const queries = {
  alerts: query<List<AlertView>>('/api/alerts', ['result']),
  dashboards: query<List<DashboardSummary>>('/api/dashboards', ['result']),
  // The navigation reads it again and again, so other parts need not.
  endpoints: query<List<EndpointView>>('/api/endpoints', ['result'], ENDPOINTS_EVERY_MS),
  overview: query<Overview>('/api/overview', [
    'notices',
    'endpoints',
    'search',
    'sources',
    'engine',
    'store',
  ]),
  projects: query<Projects>('/api/projects', ['result']),
  searches: query<List<SavedSearchView>>('/api/searches', ['result']),
  searchSources: query<List<SearchSource>>('/api/search/sources', ['result']),
  sources: query<List<SourceView>>('/api/sources', ['result']),
  workbench: query<WorkbenchView>('/api/workbench', ['functions', 'tables']),
} as const;

export function query<T>(path: string, needs: Needs<T>, staleTime = 0): Query<T> {
  return { queryKey: [path], needs, staleTime };
}

// An answer that no part shows.
const KEPT_MS = 60_000;

export const DEFAULTS: DefaultOptions = {
  queries: {
    // The service may run on this machine, which needs no network.
    networkMode: 'always',
    refetchOnWindowFocus: false,
    // An error says when to try again. By itself the console does not: a query that fails costs as much as one that does not.
    retry: false,
    gcTime: KEPT_MS,
    throwOnError: isFault,
  },
  mutations: { networkMode: 'always', gcTime: 0, throwOnError: isFault },
};

/** An error of the console itself: its boundary shows it. */
function isFault(error: unknown): boolean {
  return !(error instanceof ApiError);
}

interface ReadOptions {
  readonly isWanted?: boolean;
  /** Reads again and again while the page is visible, and as soon as it is visible again. */
  readonly everyMs?: number;
}

/** Reads a path of the API, once for all parts that need it. @returns the last value, also if a later read failed, and the last error */
export function useRead<T>({ needs, ...options }: Query<T>, { isWanted = true, everyMs }: ReadOptions = {}) {
  const client = useClient();
  const [path] = options.queryKey;
  const { data, error, status } = useQuery({
    ...options,
    queryFn: ({ signal }) => client.call<T>(path, needs, { signal }),
    enabled: isWanted,
    ...(everyMs !== undefined && { refetchInterval: everyMs, refetchOnWindowFocus: 'always' }),
  });
  // Without a value the next read would hide the error until it has ended.
  const last = useRef<{ readonly path: string; readonly error: ApiError | null }>(undefined);
  if (status !== 'pending' || last.current?.path !== path) last.current = { path, error };
  return { value: data, error: last.current.error ?? undefined };
}

const EVERY_MS = 5_000;

/** The live numbers of the service; without the scope `manage` nothing is read. */
export function useOverview() {
  const isWanted = useClient().self.scopes.includes('manage');
  return useRead(queries.overview, { isWanted, everyMs: EVERY_MS });
}

const ALERTS_EVERY_MS = 30_000;

/** The alerts that fire, of those that the key may see. */
export function useFiring(): readonly AlertView[] {
  const isWanted = useClient().self.scopes.includes('query');
  const { value } = useRead(queries.alerts, { isWanted, everyMs: ALERTS_EVERY_MS });
  return value?.result.filter(({ state }) => state === 'firing') ?? [];
}

/** While it is running, `value` is that of the run before. */
export type Run<T> =
  | {
      readonly state: 'idle' | 'stopped' | 'running';
      readonly value?: T | undefined;
      readonly error?: undefined;
    }
  | { readonly state: 'done'; readonly value: T; readonly error?: undefined }
  | { readonly state: 'failed'; readonly value?: undefined; readonly error: ApiError };

/** Runs a request of the user once for each key; another one aborts it, in the engine too; undefined: nothing is wanted. */
export function useRun<T>(
  key: readonly (string | number)[] | undefined,
  read: (client: Client, signal: AbortSignal) => Promise<T>,
): Run<T> {
  const client = useClient();
  const before = useRef<T>(undefined);
  const { data, error } = useQuery({
    queryKey: key ?? ['nothing'],
    queryFn: key === undefined ? skipToken : ({ signal }) => read(client, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    structuralSharing: false, // answers are large, and may have bigints
  });
  if (key === undefined || error !== null) before.current = undefined;
  if (data !== undefined) before.current = data;
  if (key === undefined) return { state: 'idle' };
  if (error !== null) return { state: 'failed', error };
  return data === undefined ? { state: 'running', value: before.current } : { state: 'done', value: data };
}

/** The sources that the key may see, with live numbers if it has `manage`. */
export function useSources() {
  const mayWatch = useClient().self.scopes.includes('manage');
  const definitions = useRead(queries.sources);
  const live = useOverview();
  return {
    sources: definitions.value?.result,
    /** The state of a source; `undefined` for keys without `manage`, and before it has been read. */
    stateOf: (name: string) => live.value?.sources.find((one) => one.name === name),
    mayWatch,
    /** When the numbers were read; ms since the epoch. */
    nowMs: live.value === undefined ? Date.now() : Date.parse(live.value.at),
    error: definitions.error ?? live.error,
  };
}
