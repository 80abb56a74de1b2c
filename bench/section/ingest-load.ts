import type { Server } from '../../trial/server.ts';
import { type LoadJob, type LoadResult, runLoad } from '../load.ts';

export const EVENTS_PER_BATCH = 1_000;

const QUERIES = '/api/endpoints/query';
/** Cached for longer than the measurement takes. */
export const CACHED_PATHS = [`${QUERIES}/usage.api-counts?project=aurora&interval=daily`];
/** Never cached. */
export const LOGS_PATHS = ['aurora', 'basalt', 'cobalt'].map(
  (project) => `${QUERIES}/logs.all?project=${project}&project_tier=PRO`,
);

type LoadPart = Partial<LoadJob> & Pick<LoadJob, 'send'>;

/** Sends the load of `part`, by default on one connection without a pause. Refusals are part of the result. */
export function tryLoad({ url }: { readonly url: string }, part: LoadPart): Promise<LoadResult> {
  const bounds = { secondsMax: 120, requestsMax: Number.MAX_SAFE_INTEGER };
  return runLoad({ url, connections: 1, pauseMs: 0, ...bounds, ...part });
}

/** As `tryLoad`. @throws if anything was refused, since it was not measured then */
export async function load(server: { readonly url: string }, part: LoadPart): Promise<LoadResult> {
  const result = await tryLoad(server, part);
  if (result.failures === 0) return result;
  throw new Error(`${result.failures} requests failed; the first: ${result.firstFailure}`);
}

export async function sendBatches(server: Server, bounds: Partial<LoadJob>): Promise<LoadResult> {
  return await load(server, { connections: 8, send: { eventsPerRequest: EVENTS_PER_BATCH }, ...bounds });
}

export function eventRate({ requests, seconds }: LoadResult): number {
  return (requests * EVENTS_PER_BATCH) / seconds;
}
