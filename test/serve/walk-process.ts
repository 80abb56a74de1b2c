import { Session } from 'node:inspector/promises';
import { pino } from 'pino';
import { createService } from '../../src/service/service.ts';
import { testConfig } from '../support/service.ts';

/** Files of src/ that a request passes, by kind of request. */
export interface Walks {
  readonly cached: readonly string[];
  readonly miss: readonly string[];
  readonly event: readonly string[];
  readonly search: readonly string[];
  readonly draft: readonly string[];
}

const SRC = new URL('../../src/', import.meta.url).href;
const PATH = '/api/endpoints/query/usage.api-counts?interval=hourly&project=p';
// What a timer runs meanwhile is no part of a request, and is not there each time.
const ROUNDS = 10;
const DRAFT = `name: a.draft
description: A draft.
max_rows: 10
caching: disabled
columns: { n: { type: integer, description: A number. } }
`;

const profiler = new Session();

/** Files with a function that has run since the last call. */
async function takeFiles(): Promise<Set<string>> {
  const { result } = await profiler.post('Profiler.takePreciseCoverage');
  const ran = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
  const urls = ran.map(({ url }) => url).filter((url) => url.startsWith(SRC));
  return new Set(urls.map((url) => url.slice(SRC.length)));
}

process.once('message', async (dataDir: string) => {
  profiler.connect();
  await profiler.post('Profiler.enable');
  await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const options = { logger: pino({ level: 'silent' }), owner: 'a test' };
  const { app, keyring, close } = await createService(testConfig(dataDir), options);
  const { key } = await keyring.create({ name: 'a', scopes: ['query', 'ingest', 'manage'] });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });

  /** The files that each of some requests passes, in alphabetical order. */
  async function walk(path: (round: number) => string, body?: (round: number) => unknown): Promise<string[]> {
    const rounds: Set<string>[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      await takeFiles();
      const response = await fetch(`${url}${path(round)}`, {
        headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body(round)) }),
      });
      if (!response.ok) throw new Error(await response.text());
      await response.arrayBuffer();
      rounds.push(await takeFiles());
    }
    const [, first = new Set(), ...others] = rounds; // before the first, caches are empty
    return [...first].filter((file) => others.every((round) => round.has(file))).sort();
  }

  const walks = {
    miss: await walk((round) => `${PATH}${round}`),
    cached: await walk(() => PATH),
    event: await walk(
      () => '/api/logs?source=postgres.logs',
      (round) => [{ message: String(round), metadata: { project: 'p' } }],
    ),
    search: await walk((round) => `/api/search?source=postgres.logs&q=text${round}`),
    draft: await walk(
      () => '/api/workbench/run',
      (round) => ({ definition: DRAFT, sql: `SELECT ${round} AS n`, values: {} }),
    ),
  };
  await close();
  process.send?.(walks satisfies Walks, () => process.disconnect());
});
