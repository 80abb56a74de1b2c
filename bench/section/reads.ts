import { cpSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { type BenchData, inTemporaryFolder, openBenchData } from '../data.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import {
  askCached,
  askNew,
  countPath,
  pathOf,
  QUESTION_KINDS,
  type Question,
  SEARCH_KINDS,
} from '../questions.ts';
import { type BenchOptions, median, type Row, say, timesRow, Unmeasured } from '../report.ts';
import { openDuckDb } from '../rival/duckdb.ts';
import { openOracle } from '../rival/oracle.ts';
import { openPostgres } from '../rival/postgres.ts';
import { type AnswerRow, findDifference, type OpenRival, type Rival } from '../rival/rival.ts';

const ASKED = 40;
const WARM_UP = 5;
/** After so long in total, a side gets no more questions of a kind; each kind is asked at least a few times. */
const BUDGET_MS = 60_000;
const ASKED_MIN = 3;
/** Projects for the comparison of answers before the measurement: those with the most, some, and the fewest rows. */
const COMPARED_AT = [0, 0.5, 1];
/** The oracle reads all events of a project into memory. */
const COMPARED_BY_ORACLE_AT = [0.9, 1];
/** The rivals, by their names in `--only`. PostgreSQL reads few rows by an index faster than any query is planned. */
export const RIVALS: Readonly<Record<string, OpenRival>> = { postgres: openPostgres, duckdb: openDuckDb };
/** Loading takes minutes: PostgreSQL for a million rows, DuckDB for ten. */
const ROWS_MAX: Readonly<Record<string, number>> = { postgres: 1_000_000 };
/** Also of those that `--only` names. */
const CHOSEN_ROWS_MAX = 10_000_000;

/** The times of one side for one kind of question, ms. */
export interface Times {
  readonly side: string;
  readonly times: readonly number[];
}

export interface Asked {
  readonly kind: string;
  /** Tailrace first. */
  readonly sides: readonly Times[];
}

/** New answers over HTTP, beside cached ones, the engine alone, and other engines with the same rows; by turns. */
export async function readsSection({ rows, only }: BenchOptions): Promise<Row[]> {
  const { asked, absent } = await askAll(rows, only);
  return [...asked.flatMap(toRows), ...absent];
}

function toRows({ kind, sides: [own, ...others] }: Asked): Row[] {
  if (own === undefined) return [];
  return [
    timesRow(`${kind}, ${own.side}`, own.times),
    ...others.flatMap(({ side, times }) => [
      timesRow(`${kind}, ${side}`, times),
      { name: `${kind}, ${side} / ${own.side}`, unit: 'ratio', values: [median(times) / median(own.times)] },
    ]),
  ];
}

/** @param only names of rivals; empty: all */
export async function askAll(
  rows: number,
  only: BenchOptions['only'],
): Promise<{ asked: Asked[]; absent: Row[] }> {
  const data = await openBenchData(rows);
  return await inTemporaryFolder(async (folder) => {
    const { rivals, absent } = await openRivals({ ...data, rows }, folder, only);
    try {
      return await withPastServer({ ...data, endpointsDir: addCount(folder) }, 'steps', async (server) => {
        if (rivals.length > 0) await compareAnswers(server, rivals, data.endMs, COMPARED_AT);
        else await compareAnswers(server, [openOracle(data)], data.endMs, COMPARED_BY_ORACLE_AT);
        return { asked: await askEach(server, rivals, data.endMs), absent };
      });
    } finally {
      for (const { close } of rivals) await close();
    }
  });
}

async function openRivals(
  data: BenchData & { readonly rows: number },
  folder: string,
  only: BenchOptions['only'],
) {
  const rivals: Rival[] = [];
  const absent: Row[] = [];
  for (const [name, open] of Object.entries(RIVALS)) {
    const isChosen = only.includes(name);
    const rowsMax = isChosen ? CHOSEN_ROWS_MAX : (ROWS_MAX[name] ?? CHOSEN_ROWS_MAX);
    if ((only.length > 0 && !isChosen) || data.rows > rowsMax) continue;
    try {
      rivals.push(await open(data, folder));
    } catch (error) {
      if (!(error instanceof Unmeasured)) throw error;
      absent.push({ name, unit: '', values: [], reason: error.message });
    }
  }
  return { rivals, absent };
}

/** @returns a folder with the shipped endpoints and the benchmark's */
function addCount(folder: string): string {
  const endpointsDir = join(folder, 'endpoints');
  for (const from of ['endpoints', 'bench/endpoints']) cpSync(from, endpointsDir, { recursive: true });
  return endpointsDir;
}

/** @throws if the answers of the engines differ, which would make the comparison void */
async function compareAnswers(
  { projects, ask }: PastServer,
  rivals: readonly Rival[],
  nowMs: number,
  shares: readonly number[],
): Promise<void> {
  for (const { name, question: of } of QUESTION_KINDS) {
    for (const share of shares) {
      const project = projects[Math.round((projects.length - 1) * share)] ?? '';
      const question = of(project);
      const { lines } = await ask({ ...question, nowMs });
      const ours: AnswerRow[] = lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
      for (const rival of rivals) {
        const difference = findDifference(ours, (await rival.ask(question, nowMs)).rows());
        if (difference !== undefined)
          throw new Error(`${rival.name} answers ${name} of ${project} differently: ${difference}`);
      }
    }
  }
  const names = rivals.map(({ name }) => name).join(', ');
  say(`${QUESTION_KINDS.length * shares.length} answers are the same as those of ${names}`);
}

/** Asks a project's question; `i`: how many have been asked before. @returns ms */
type Ask = (project: string, i: number) => Promise<number>;
type Side = readonly [name: string, ask: Ask];

async function askEach(server: PastServer, rivals: readonly Rival[], endMs: number): Promise<Asked[]> {
  const agent = new Agent({ keepAlive: true });
  const asked: Asked[] = [];
  const count: Side = [
    'a bare count over HTTP',
    async (project) => (await askNew(server.url, agent, countPath(project))).ms,
  ];
  for (const { name, question, isCached } of QUESTION_KINDS) {
    const own = (project: string) => pathOf(question(project));
    const direct = async (
      to: (question: Question, i: number) => Promise<{ ms: number }>,
      project: string,
      i: number,
    ) => (await to(question(project), i)).ms;
    const sides: Side[] = [
      ['Tailrace', async (project) => (await askNew(server.url, agent, own(project))).ms],
      count,
      ['the engine alone', (project, i) => direct(server.ask, project, i)],
    ];
    if (isCached) sides.push(['Tailrace, cached', (project) => askCached(server.url, agent, own(project))]);
    for (const rival of rivals)
      sides.push([rival.name, (project, i) => direct((one, nth) => rival.ask(one, endMs + nth), project, i)]);
    asked.push(await takeTurns(server.projects, name, sides));
  }
  for (const { name, path } of SEARCH_KINDS)
    asked.push(
      await takeTurns(server.projects, name, [
        ['Tailrace', async (project, i) => (await askNew(server.url, agent, path(project, endMs - i))).ms],
        count,
      ]),
    );
  agent.destroy();
  return asked;
}

async function takeTurns(projects: readonly string[], kind: string, sides: readonly Side[]): Promise<Asked> {
  const asked = sides.map(([side, ask]) => ({ side, ask, times: [] as number[] }));
  for (let i = 0; i < ASKED + WARM_UP; i++) {
    const shift = i % asked.length;
    // The order alternates, so that none always follows the same one.
    for (const { ask, times } of [...asked.slice(shift), ...asked.slice(0, shift)])
      if (!isOverBudget(times)) times.push(await ask(projects[i % projects.length] ?? '', i));
  }
  const kept = asked.map(({ side, times }) => ({
    side,
    times: times.slice(Math.min(WARM_UP, times.length - 1)),
  }));
  say(`${kind}: ${kept.map(({ side, times }) => `${side} ${median(times).toFixed(1)} ms`).join(', ')}`);
  return { kind, sides: kept };
}

function isOverBudget(times: readonly number[]): boolean {
  return times.length >= WARM_UP + ASKED_MIN && times.reduce((sum, ms) => sum + ms, 0) > BUDGET_MS;
}
