import { isManaged } from '../../src/definitions/source.ts';
import { storeSample } from '../../src/sample/fill.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';

type TestService = Awaited<ReturnType<typeof startTestService>>;

// Files of a worker share it; it ends with its worker.
const shared = globalThis as { tailraceConsole?: Promise<TestService> };
shared.tailraceConsole ??= startWithSample({ rows: 12_000, days: 7 });
export const { url: URL_OF_SERVICE } = await shared.tailraceConsole;
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

/** A request with a key to the service. */
export async function callService(path: string, key = KEY, init: RequestInit = {}): Promise<Response> {
  return await fetch(URL_OF_SERVICE + path, {
    ...init,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
  });
}

/** Sends events to a source; returns the status of the response. */
export async function send(source: string, events: readonly object[], key = KEY): Promise<number> {
  const init = { method: 'POST', body: JSON.stringify(events) };
  return (await callService(`/api/logs?source_name=${source}`, key, init)).status;
}

/** Rows of a path, such as an endpoint's. */
export async function rowsOf(path: string): Promise<Record<string, number | string>[]> {
  const response = await callService(path);
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { result: Record<string, number | string>[] }).result;
}

/** Text of a new key with these rights, as `POST /api/keys` takes them. */
export async function createKey(fields: object): Promise<string> {
  const body = JSON.stringify({ name: 'a test', scopes: ['query'], ...fields });
  const response = await callService('/api/keys', KEY, { method: 'POST', body });
  if (response.status !== 201) throw new Error(await response.text());
  return ((await response.json()) as { key: string }).key;
}
