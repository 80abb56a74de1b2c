import { isManaged } from '../../src/definitions/source.ts';
import { storeSample } from '../../src/sample/fill.ts';
import { post } from '../support/http.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';

type TestService = Awaited<ReturnType<typeof startTestService>>;

// Files of a worker share it; it ends with its worker.
const shared = globalThis as { tailraceConsole?: Promise<TestService> };
shared.tailraceConsole ??= startWithSample({ rows: 12_000, days: 7 });
export const { url: URL_OF_SERVICE, newKey } = await shared.tailraceConsole;
/** With every scope. */
export const KEY = PRIVATE_KEY;

/** The shipped definitions, events up to now, and a clock that goes. */
export async function startWithSample(
  size: { rows: number; days: number },
  env: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  const service = await startTestService({ env });
  Object.defineProperty(service.clock, 'now', { get: Date.now });
  const { engine, registry } = service.core;
  await storeSample(
    engine,
    registry.sources.filter((source) => isManaged(source) && source.isInternal !== true),
    {
      ...{ ...size, seed: 1, projects: 5, end: Date.now() * 1000 },
      ...{ signal: new AbortController().signal, onProgress: () => undefined },
    },
  );
  return service;
}

/** Sends events to a source; returns the status of the response. */
export async function send(source: string, events: readonly object[], key = KEY): Promise<number> {
  return (await post(URL_OF_SERVICE, `/api/logs?source_name=${source}`, events, { 'x-api-key': key })).status;
}
