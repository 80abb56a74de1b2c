import { Agent } from 'node:http';
import { type BenchData, openBenchData } from '../data.ts';
import { askCold } from '../http.ts';
import { median } from '../measure.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { QUESTION_KINDS, type QuestionKind } from '../questions.ts';
import { type Goal, type Row, say, timesRow } from '../report.ts';
import { findDifference } from '../rival/agree.ts';
import { openDuckDb } from '../rival/duckdb.ts';
import { parseRivals, RIVAL_NAMES, RIVALS_ROWS_MAX, type RivalName } from '../rival/names.ts';
import { openPostgres } from '../rival/postgres.ts';
import { AbsentRival, type AnswerRow, type Rival } from '../rival/rival.ts';
import type { BenchOptions } from '../section.ts';

const ASKED = 40;
const WARM_UP = 3;
/** After so long in total, a rival gets no more questions of a kind; each kind is asked at least a few times. */
const BUDGET_MS = 60_000;
const ASKED_MIN = 3;
/** Projects for the comparison of answers before the measurement: those with the most, some, and the fewest rows. */
const COMPARED_AT = [0, 0.5, 1];

const OPEN: Readonly<Record<RivalName, (data: BenchData) => Promise<Rival>>> = {
  postgresql: openPostgres,
  duckdb: openDuckDb,
};

interface Opponent extends Rival {
  readonly goal: (kind: QuestionKind, rows: number) => { goal?: Goal };
}

/** The same questions to other engines with the same rows and to ours over HTTP, in turn, one at a time. */
export async function rivalsSection({ rows, rivals }: BenchOptions): Promise<Row[]> {
  if (rivals === undefined && rows > RIVALS_ROWS_MAX) {
    say(`rivals: not asked with ${rows.toLocaleString('en')} rows, unless --rivals names them`);
    return [];
  }
  const names = rivals === undefined ? RIVAL_NAMES : parseRivals(rivals);
  const data = await openBenchData(rows);
  const opponents: Opponent[] = [];
  try {
    for (const name of names) {
      const rival = await openRival(name, data);
      if (rival !== undefined) opponents.push({ ...rival, goal: GOALS[name] });
    }
    if (opponents.length === 0) return [];
    return await withPastServer(data, 'steps', async (server) => {
      await compareAnswers(server, opponents, data.endMs);
      const measured: Row[] = [];
      for (const kind of QUESTION_KINDS)
        measured.push(...(await measure(server, opponents, { kind, data, rows })));
      return measured;
    });
  } finally {
    for (const { close } of opponents) await close();
  }
}

/** The goal for the rival's median, as a multiple of ours. */
const GOALS: Readonly<Record<RivalName, Opponent['goal']>> = {
  postgresql: (_kind, rows) =>
    rows >= 1_000_000 ? { goal: { atLeast: rows >= 10_000_000 ? 100 : 20 } } : {},
  duckdb: (kind, rows) =>
    rows >= 10_000_000 ? { goal: { atLeast: kind.name.startsWith('logs.all') ? 1 : 2 } } : {},
};

async function openRival(name: RivalName, data: BenchData): Promise<Rival | undefined> {
  try {
    return await OPEN[name](data);
  } catch (error) {
    if (!(error instanceof AbsentRival)) throw error;
    say(`rivals: ${name} is left out: ${error.message}`);
    return undefined;
  }
}

/** @throws if the answers of the engines differ, which would make the comparison void */
async function compareAnswers(
  { projects, ask }: PastServer,
  opponents: readonly Rival[],
  nowMs: number,
): Promise<void> {
  let compared = 0;
  for (const kind of QUESTION_KINDS) {
    for (const share of COMPARED_AT) {
      const project = projects[Math.round((projects.length - 1) * share)] ?? '';
      const question = kind.question(project);
      const ours = parseRows((await ask({ ...question, nowMs })).lines);
      for (const rival of opponents) {
        const difference = findDifference(ours, await rival.ask(question, nowMs));
        if (difference !== undefined)
          throw new Error(
            `${rival.name} answers something else to ${kind.name} of ${project}: ${difference}`,
          );
        compared++;
      }
    }
  }
  say(`rivals: ${compared} answers are the same as ours`);
}

function parseRows(lines: string): AnswerRow[] {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

interface Round {
  readonly kind: QuestionKind;
  readonly data: BenchData;
  readonly rows: number;
}

async function measure(server: PastServer, opponents: readonly Opponent[], round: Round): Promise<Row[]> {
  const { kind, data, rows } = round;
  const agent = new Agent({ keepAlive: true });
  const ours: number[] = [];
  const theirs = opponents.map((opponent) => ({ opponent, times: [] as number[] }));
  for (let i = 0; i < ASKED + WARM_UP; i++) {
    const question = kind.question(server.projects[i % server.projects.length] ?? '');
    const turns = [
      async () => ours.push(await askCold(server.url, agent, question)),
      ...theirs.map(({ opponent, times }) => async () => {
        if (isOverBudget(times)) return;
        const startMs = performance.now();
        await opponent.ask(question, data.endMs + i);
        times.push(performance.now() - startMs);
      }),
    ];
    // The order alternates, so that none always follows the same one.
    for (const ask of [...turns.slice(i % turns.length), ...turns.slice(0, i % turns.length)]) await ask();
  }
  agent.destroy();
  const own = ours.slice(WARM_UP);
  const measured: Row[] = [timesRow(`${kind.name}, Tailrace over HTTP`, own)];
  for (const { opponent, times } of theirs) {
    const kept = times.slice(Math.min(WARM_UP, times.length - 1));
    const asked = kept.length < ASKED ? `, asked ${kept.length} times` : '';
    say(
      `rivals: ${kind.name}: ${median(own).toFixed(1)} ms, ${opponent.name} ${median(kept).toFixed(1)} ms${asked}`,
    );
    measured.push(timesRow(`${kind.name}, ${opponent.name}${asked}`, kept), {
      name: `${kind.name}, ${opponent.name} / Tailrace`,
      unit: 'ratio',
      values: [median(kept) / median(own)],
      ...opponent.goal(kind, rows),
    });
  }
  return measured;
}

function isOverBudget(times: readonly number[]): boolean {
  return times.length >= WARM_UP + ASKED_MIN && times.reduce((sum, ms) => sum + ms, 0) > BUDGET_MS;
}
