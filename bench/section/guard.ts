import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseConfig } from '../../src/config/config.ts';
import { openEngine } from '../../src/service/open-core.ts';
import { trusted } from '../../src/sql/sql.ts';
import { withServer } from '../../trial/server.ts';
import { settle, takeService, treeMs } from '../core-time.ts';
import { type BenchData, inTemporaryFolder, openBenchData, withLinkedCopy } from '../data.ts';
import {
  describeWorse,
  FIGURE_NAMES,
  FIGURES,
  type FigureName,
  type Figures,
  findWorse,
  GUARD_FILE,
  type Guard,
  readGuard,
  takeBetter,
  WORSE_MAX,
  writeGuard,
} from '../guard.ts';
import { EVENTS_PER_BATCH, sendBatches } from '../load.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { askNew, pathOf, QUESTION_KINDS } from '../questions.ts';
import type { ReferenceCost, ReferenceJob } from '../reference-process.ts';
import { type BenchOptions, quantile, type Row, say } from '../report.ts';
import { type Burst, takeTurns } from './cached.ts';

/** Whatever `--rows` says: figures of other data are other figures. */
const ROWS = 300_000;
const WEEK_MS = 7 * 86_400_000;
const DAY_MS = 86_400_000;

/**
 * Compares what Tailrace costs with bench/guard.json, or writes that file. A figure that is worse ends the command with exit code 1. Core
 * time and neighbouring rounds of both sides leave out most of what other work on the machine adds.
 */
export async function guardSection({ save = false }: BenchOptions): Promise<Row[]> {
  const saved = save ? undefined : readGuard(); // before the minutes of measuring
  const figures = await measureTwiceIfWorse(saved);
  if (saved === undefined) writeGuard({ ...describeVersion(), figures });
  else compare(saved, figures);
  return FIGURE_NAMES.map((name) => {
    const goal = saved && { goal: { below: saved.figures[name] * (1 + WORSE_MAX) } };
    return { name: `guard, ${name}: ${FIGURES[name]}`, unit: 'ratio', values: [figures[name]], ...goal };
  });
}

/** Measures all figures again if one is worse, and takes the lower ones: other work on the machine makes figures worse, never better. */
async function measureTwiceIfWorse(saved: Guard | undefined): Promise<Figures> {
  const first = await measureAll();
  const worse = saved === undefined ? [] : findWorse(saved.figures, first);
  if (worse.length === 0) return first;
  say(`guard: measures again, since ${worse.map(describeWorse).join('; ')}`);
  return takeBetter(first, await measureAll());
}

function compare({ figures: saved, commit, date, cores }: Guard, measured: Figures): void {
  const worse = findWorse(saved, measured);
  if (cores !== availableParallelism()) say(`guard: ${GUARD_FILE} is of a machine with ${cores} cores`);
  for (const one of worse) say(`guard: worse than ${commit} of ${date}: ${describeWorse(one)}`);
  if (worse.length > 0) process.exitCode = 1;
}

function describeVersion(): Omit<Guard, 'figures'> {
  const args = ['describe', '--always', '--dirty', '--exclude=*'];
  const commit = execFileSync('git', args, { encoding: 'utf8' }).trim();
  return { commit, date: new Date().toISOString().slice(0, 10), cores: availableParallelism() };
}

/** What both sides of a figure cost in each round, in the same unit. */
interface Rounds {
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
}

/**
 * The share of rounds that are better than the one that counts. Other work on the machine makes rounds dearer, never cheaper, so the lower quartile
 * of each side repeats better than the median.
 */
const SHARE = 0.25;

function ratioOf({ ours, theirs }: Rounds): number {
  return quantile(ours, SHARE) / quantile(theirs, SHARE);
}

async function measureAll(): Promise<Figures> {
  const data = await openBenchData(ROWS);
  const disk = await measureDisk(data);
  const start = await measureStart(data);
  return await withReference(async (reference) => {
    const ingest = await measureIngest(reference);
    const questions = await measureQuestions(data, reference);
    const rounds = { start, ...ingest, ...questions, cached: await measureCached(data) };
    const ratios = Object.entries(rounds).map(([name, one]) => [name, ratioOf(one)]);
    return { disk, ...Object.fromEntries(ratios) } as Figures; // all names
  });
}

/** A process of the engine's library without Tailrace: the work that figures are divided by. */
interface Reference {
  /** The core time from the start of the process until the engine has answered a query, ms. */
  readonly startCoreMs: number;
  /** Does work so many times. @returns the mean core time, ms */
  measure(work: ReferenceJob['work'], times: number): Promise<number>;
}

async function withReference<T>(work: (reference: Reference) => Promise<T>): Promise<T> {
  const child = fork(join(import.meta.dirname, '../reference-process.ts'));
  const ended = once(child, 'exit');
  const next = async () => {
    const early = ended.then(([code]) => Promise.reject(new Error(`the reference ended with ${code}`)));
    const [cost] = await Promise.race([once(child, 'message'), early]);
    return (cost as ReferenceCost).coreMs; // only that script sends it
  };
  try {
    const startCoreMs = await next();
    return await work({
      startCoreMs,
      measure(job, times) {
        child.send({ work: job, times } satisfies ReferenceJob);
        return next();
      },
    });
  } finally {
    if (child.connected) child.disconnect();
    await ended;
  }
}

// {"id":"…","timestamp":"2026-11-20T14:26:00.000000Z","project":"…","event_message":"…","metadata":…}
const MEMBERS_BYTES = 96;
/** Enough for an average. */
const SAMPLED = 100_000;

/** Bytes on the disk, beside those of the events as JSON. */
async function measureDisk(data: BenchData): Promise<number> {
  return await withLinkedCopy(data, async ({ dataDir }) => {
    const engine = await openEngine(parseConfig({ TAILRACE_DATA_DIR: dataDir }));
    const tables = await engine.inspect(`
      SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes
      FROM system.parts WHERE active AND database = 'tailrace' GROUP BY table`);
    let [bytesSum, jsonSum] = [0, 0];
    for (const { table, rows, bytes } of tables) {
      const [average] = await engine.inspect(
        trusted(`
        SELECT avg(length(id) + length(project) + length(event_message) + length(metadata)) AS bytes
        FROM (SELECT id, project, event_message, metadata FROM tailrace.\`${table}\` LIMIT ${SAMPLED})`),
      );
      bytesSum += Number(bytes);
      jsonSum += Number(rows) * (Number(average?.['bytes']) + MEMBERS_BYTES);
    }
    await engine.close();
    return bytesSum / jsonSum;
  });
}

const STARTS = 5;
const POLL_EVERY_MS = 5;

/** The core time from the command to the first 200 of `/ready`, beside that of a process that only loads the engine; by turns. */
async function measureStart(data: BenchData): Promise<Rounds> {
  return await withLinkedCopy(data, async ({ dataDir }) => {
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 1; round <= STARTS; round++) {
      const readyMs = await withServer({ dataDir }, async ({ url, pid }) => {
        while (!(await fetch(`${url}/ready`)).ok) await wait(POLL_EVERY_MS);
        return treeMs(pid);
      });
      const bareMs = await withReference(async ({ startCoreMs }) => startCoreMs);
      ours.push(readyMs);
      theirs.push(bareMs);
      say(`guard: start ${round}/${STARTS}: ${readyMs} core ms, the engine loaded ${bareMs.toFixed(0)} ms`);
    }
    return { ours, theirs };
  });
}

const INGEST_ROUNDS = 5;
const BATCHES = 20;
const WARM_UP_BATCHES = 40;
const EVENTS = BATCHES * EVENTS_PER_BATCH;
/** About half a second of the reference each. */
const TIMES = { parse: 5 * EVENTS, insert: 2 * EVENTS };

/** The core time of an event, from socket to part and with the first merges, beside that of the same event in the reference, ms; by turns. */
async function measureIngest(reference: Reference): Promise<Record<'event' | 'insert', Rounds>> {
  return await inTemporaryFolder((dataDir) =>
    withServer({ dataDir, env: { TAILRACE_LOG_LEVEL: 'warn' } }, async (server) => {
      const event = { ours: [] as number[], theirs: [] as number[] };
      const insert = { ours: [] as number[], theirs: [] as number[] };
      const nowMs = Date.now();
      // One request after another: how many are stored together would depend on the load of the machine. Each round has a day, and so
      // parts that are merged only with one another.
      const send = async (requestsMax: number, daysAgo: number) => {
        const day = { eventsPerRequest: EVENTS_PER_BATCH, nowMs: nowMs - daysAgo * DAY_MS };
        await sendBatches(server, { connections: 1, requestsMax, send: day });
        await settle(server.pid);
      };
      await send(WARM_UP_BATCHES, 0);
      for (const work of ['parse', 'insert'] as const) await reference.measure(work, TIMES[work]);
      for (let round = 1; round <= INGEST_ROUNDS; round++) {
        const { serviceMs, engineMs } = await takeService(server.pid, () => send(BATCHES, round));
        event.ours.push((serviceMs + engineMs) / EVENTS);
        insert.ours.push(engineMs / EVENTS);
        event.theirs.push(await reference.measure('parse', TIMES.parse));
        insert.theirs.push(await reference.measure('insert', TIMES.insert));
      }
      say(`guard: ingest: ${ratioOf(event).toFixed(1)} parses, ${ratioOf(insert).toFixed(2)} inserts`);
      return { event, insert };
    }),
  );
}

const QUESTION_ROUNDS = 7;
const ASKED = 8;
const WARM_UP = 5;
const COUNTS = 30;

type Kind = Exclude<FigureName, 'cached' | 'event' | 'insert' | 'start' | 'disk'>;
const KIND_NAMES: readonly Kind[] = [
  ...(['statistics-1day', 'statistics-7day', 'newest-100', 'usage-hourly', 'usage-daily'] as const),
  'search',
];

/** The path of a kind of question; the endpoints' are in the order of `QUESTION_KINDS`. */
function pathOfKind(kind: Kind, project: string, endMs: number): string {
  const asked = QUESTION_KINDS[KIND_NAMES.indexOf(kind)];
  if (asked !== undefined) return pathOf(asked.question(project));
  const [from = '', until = ''] = [endMs - WEEK_MS, endMs].map((ms) => new Date(ms).toISOString());
  return `/api/search?${new URLSearchParams({ project, q: 'level:error', from, until })}`;
}

/** The core time of a new answer over HTTP, beside that of a bare count in the reference, ms; by turns. */
async function measureQuestions(data: BenchData, reference: Reference): Promise<Record<string, Rounds>> {
  return await withPastServer(data, 'steps', async (server) => {
    const agent = new Agent({ keepAlive: true });
    const ask = (kind: Kind, times: number) => askEach(server, agent, { kind, times, endMs: data.endMs });
    const ours = new Map(KIND_NAMES.map((kind) => [kind, [] as number[]]));
    const theirs: number[] = [];
    for (const kind of KIND_NAMES) await ask(kind, WARM_UP);
    await reference.measure('count', COUNTS);
    for (let round = 1; round <= QUESTION_ROUNDS; round++) {
      for (const kind of KIND_NAMES) {
        const { serviceMs, engineMs } = await takeService(server.pid, () => ask(kind, ASKED));
        ours.get(kind)?.push((serviceMs + engineMs) / ASKED);
        theirs.push(await reference.measure('count', COUNTS));
      }
    }
    agent.destroy();
    const rounds = KIND_NAMES.map((kind): [string, Rounds] => [kind, { ours: ours.get(kind) ?? [], theirs }]);
    for (const [kind, one] of rounds) say(`guard: ${kind}: ${ratioOf(one).toFixed(2)} counts`);
    return Object.fromEntries(rounds);
  });
}

/** Asks for several projects, one after another. Each answer is new. */
async function askEach(
  { url, projects }: PastServer,
  agent: Agent,
  { kind, times, endMs }: { kind: Kind; times: number; endMs: number },
): Promise<void> {
  for (let i = 0; i < times; i++)
    await askNew(url, agent, pathOfKind(kind, projects[i % projects.length] ?? '', endMs));
}

// Its code is compiled after some ten thousand requests.
const TURNS = {
  name: 'guard: cached',
  connections: 32,
  rounds: 7,
  warmUp: { amount: 40_000 },
  burst: { amount: 10_000 },
};

/** The core time of a cached GET on the main thread, beside that of a bare Fastify route; by turns. */
async function measureCached(data: BenchData): Promise<Rounds> {
  return await withPastServer(data, 'runs', async (server) => {
    const path = pathOfKind('usage-daily', server.projects[0] ?? '', data.endMs);
    const { ours, theirs } = await takeTurns(server, path, TURNS);
    const micros = (all: readonly Burst[]) => all.map(({ coreMicros }) => coreMicros);
    return { ours: micros(ours), theirs: micros(theirs) };
  });
}
