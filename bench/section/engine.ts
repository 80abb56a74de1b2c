import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbeddedEngine } from '../../src/engine/embedded/embedded.ts';
import { createSessionHost } from '../../src/engine/process/session-host.ts';
import { killRounds } from '../../trial/kill-rounds.ts';
import { inTemporaryFolder } from '../folder.ts';
import { median } from '../measure.ts';
import { type Row, say, timesRow } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const MIB = 1024 * 1024;

/** Answers for which the process boundary is measured, and the number of requests. */
const ANSWERS = [
  { name: '4 KB', sql: "SELECT repeat('x', 4096) AS text", times: 400 },
  {
    name: '10 MB',
    sql: "SELECT number AS id, toString(sipHash64(number)) AS hash, repeat('text ', 20) AS message FROM numbers(66000)",
    times: 30,
  },
] as const;

/** The cost of the separate engine process per query, and of its end: time, and no acknowledged event. */
export async function engineSection(options: BenchOptions): Promise<Row[]> {
  return await inTemporaryFolder(async (folder) => [
    ...(await measureBoundary(folder)),
    ...(await measureKills(join(folder, 'killed'), 'SIGKILL', options)),
    ...(await measureKills(join(folder, 'crashed'), 'SIGSEGV', options)),
  ]);
}

/** The same statements in turn on an engine in a separate process and on one in this process. */
async function measureBoundary(folder: string): Promise<Row[]> {
  const host = createSessionHost();
  await host(
    { op: 'open', path: join(folder, 'inside'), connectionArgs: [], statements: [] },
    Buffer.alloc(0),
  );
  const engine = await openEmbeddedEngine({
    dataDir: join(folder, 'process'),
    readers: 1,
    queueMax: 10,
    queuePerLaneMax: 10,
    queueTimeoutMs: 10_000,
    memoryBytesMax: 4096 * MIB,
    limits: { timeoutMs: 60_000, memoryBytesMax: 1024 * MIB, resultBytesMax: 64 * MIB },
  });
  const format = 'JSONEachRow';
  const rows: Row[] = [];
  for (const { name, sql, times } of ANSWERS) {
    const inside: number[] = [];
    const over: number[] = [];
    say(`asking for ${name}, ${times} times inside this process and over the boundary`);
    for (let i = 0; i < times; i++) {
      inside.push(await time(() => host({ op: 'query', format }, Buffer.from(sql))));
      over.push(await time(() => engine.query(sql, {}, { format })));
    }
    rows.push(
      timesRow(`an answer of ${name}, engine in this process`, inside),
      timesRow(`an answer of ${name}, engine process`, over),
      { name: `added to ${name} at p50`, unit: 'ms', values: [median(over) - median(inside)] },
      { name: `ratio for ${name} at p50`, unit: 'times', values: [median(over) / median(inside)] },
    );
  }
  await engine.close();
  await host({ op: 'close' }, Buffer.alloc(0));
  return rows;
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

async function measureKills(
  dataDir: string,
  engineSignal: 'SIGKILL' | 'SIGSEGV',
  { times }: BenchOptions,
): Promise<Row[]> {
  mkdirSync(dataDir);
  const counts = await killRounds({
    dataDir,
    times,
    seed: 1,
    engineSignal,
    onRound: ({ kills, lostEvents, rowsTwice }) =>
      say(`${engineSignal} ${kills}/${times}: ${lostEvents} events lost, ${rowsTwice} rows twice`),
  });
  const none = { below: 1 };
  const named = (what: string) => `${engineSignal} of the engine process under load: ${what}`;
  return [
    timesRow(named('first new answer after it'), counts.answeredMs, { goal: { below: 2_000 } }),
    { name: named('events acknowledged'), unit: 'events', values: [counts.acknowledgedEvents] },
    { name: named('acknowledged events lost'), unit: 'events', values: [counts.lostEvents], goal: none },
    { name: named('rows stored twice'), unit: 'rows', values: [counts.rowsTwice], goal: none },
    { name: named('requests stored in part'), unit: 'requests', values: [counts.storedInPart], goal: none },
    { name: named('requests that failed'), unit: 'requests', values: [counts.cutOff] },
  ];
}
