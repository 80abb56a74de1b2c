import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Endpoint } from '../../src/definitions/endpoint.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { describeSessions } from '../../src/engine/embedded/sessions.ts';
import { createSessionHost } from '../../src/engine/process/session-host.ts';
import { createValueWriter } from '../../src/engine/values.ts';
import { FORMATS, type Format } from '../../src/query/format.ts';
import { createStatement } from '../../src/query/statement.ts';
import { fillSample, findChildren, KEY, type Server, withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../folder.ts';
import { median } from '../measure.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { compareCached } from './cached.ts';
import { CACHED_PATHS } from './ingest-load.ts';

const MIB = 1024 * 1024;
const LIMITS = { timeoutMs: 120_000, memoryBytesMax: 2048 * MIB, resultBytesMax: 1024 * MIB };
const EXPORT = 'bench.export';
const EXPORT_ROWS = 1_000_000;
const EXPORT_ROUNDS = 5;
const SAMPLE_ROWS = 10_000;
// What the engine alone has freed goes back to the system meanwhile, which would take a core from the service.
const FREED_MS = 3_000;

/** Answers in each format: of a million rows beside the engine alone, and cached beside a bare Fastify route. */
export async function formatsSection(_: BenchOptions): Promise<Row[]> {
  return await inTemporaryFolder(async (folder) => {
    const endpoints = join(folder, 'endpoints');
    for (const from of ['endpoints', 'bench/endpoints']) cpSync(from, endpoints, { recursive: true });
    const dataDir = join(folder, 'data');
    await fillSample(dataDir, SAMPLE_ROWS);
    const env = {
      TAILRACE_ENDPOINTS_DIR: endpoints,
      TAILRACE_LOG_LEVEL: 'warn',
      TAILRACE_RESULT_BYTES_MAX: String(LIMITS.resultBytesMax),
      TAILRACE_QUERY_MEMORY_BYTES_MAX: String(LIMITS.memoryBytesMax),
      TAILRACE_ENGINE_MEMORY_BYTES_MAX: String(2 * LIMITS.memoryBytesMax),
    };
    return await withServer({ dataDir, env }, async (server) => [
      ...(await measureExports(server, join(folder, 'alone'), endpoints)),
      ...(await measureCached(server)),
    ]);
  });
}

async function measureCached(server: Server): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name } of FORMATS) {
    const path = `${CACHED_PATHS[0]}&format=${name}`;
    const turns = {
      name: `cached GET in ${name}`,
      connections: 32,
      rounds: 7,
      burst: { seconds: 1 },
      warmUp: { seconds: 4 },
    };
    const compared = await compareCached(server, path, turns);
    rows.push(...compared.filter((row) => row.name === `${turns.name} / bare Fastify`));
  }
  return rows;
}

async function measureExports(server: Server, folder: string, endpointsDir: string): Promise<Row[]> {
  const { definitions } = await readDefinitions({ endpointsDir, sourcesDir: 'sources' });
  const endpoint = definitions.endpoints.find(({ name }) => name === EXPORT);
  if (endpoint === undefined) throw new Error(`${EXPORT} is not defined`);
  const host = createSessionHost();
  const { reader } = describeSessions(folder, { memoryBytesMax: 2 * LIMITS.memoryBytesMax, limits: LIMITS });
  await host(reader(new Map()), Buffer.alloc(0));
  const rows: Row[] = [];
  for (const format of FORMATS.filter(({ isFile }) => isFile)) {
    const { sql, format: engineFormat } = createStatement(endpoint, format);
    const text = Buffer.from(createValueWriter()(sql, { rows: String(EXPORT_ROWS) }));
    const alone = async () => void (await host({ op: 'query', format: engineFormat }, text));
    rows.push(...(await measureExport(server, endpoint, format, alone)));
  }
  await host({ op: 'close' }, Buffer.alloc(0));
  return rows;
}

async function measureExport(
  server: Server,
  { name }: Endpoint,
  format: Format,
  alone: () => Promise<void>,
): Promise<Row[]> {
  const engine: number[] = [];
  const first: number[] = [];
  const growth: number[] = [];
  const engineGrowth: number[] = [];
  const path = (rows: number) => `/api/endpoints/query/${name}?format=${format.name}&rows=${rows}`;
  let bytes = 0;
  for (let round = 0; round < EXPORT_ROUNDS; round++) {
    const startMs = performance.now();
    await alone();
    engine.push(performance.now() - startMs);
    await pause(FREED_MS);
    await download(server.url, path(10));
    const grown = watchPeak(server.pid);
    const [child] = findChildren(server.pid);
    const engineGrown = watchPeak(child ?? server.pid);
    const answer = await download(server.url, path(EXPORT_ROWS));
    bytes = answer.bytes;
    first.push(answer.firstByteMs);
    growth.push(grown() / bytes);
    engineGrowth.push(engineGrown() / bytes);
    say(
      `${format.name} ${round + 1}/${EXPORT_ROUNDS}: ${Math.round(answer.firstByteMs)} ms, engine ${Math.round(engine.at(-1) ?? 0)} ms`,
    );
  }
  const what = `${EXPORT_ROWS} rows in ${format.name}`;
  return [
    { name: `${what}: size`, unit: 'MB', values: [bytes / 1e6] },
    { name: `${what}: engine alone`, unit: 'ms', values: engine },
    { name: `${what}: first byte`, unit: 'ms', values: first },
    {
      name: `${what}: first byte / engine alone`,
      unit: 'ratio',
      values: [median(first) / median(engine)],
      goal: { below: 1.15 },
    },
    { name: `${what}: growth of the service / size`, unit: 'ratio', values: growth, goal: { below: 1.3 } },
    { name: `${what}: growth of the engine process / size`, unit: 'ratio', values: engineGrowth },
  ];
}

/** Forgets the most memory that a process has had. @returns how far it then grew, bytes; NaN without /proc */
function watchPeak(pid: number): () => number {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    return () => Number.NaN;
  }
  const read = (name: string) => {
    const [, kib] =
      new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) * 1024;
  };
  const before = read('VmRSS');
  return () => read('VmHWM') - before;
}

function download(url: string, path: string): Promise<{ bytes: number; firstByteMs: number }> {
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(`${url}${path}`, { headers: { 'x-api-key': KEY } }, (response) => {
      const firstByteMs = performance.now() - startMs;
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('error', reject).on('end', () => {
        if (response.statusCode === 200) resolve({ bytes, firstByteMs });
        else reject(new Error(`${path} was answered ${response.statusCode}`));
      });
    });
    request.on('error', reject);
  });
}
