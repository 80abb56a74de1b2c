import { type BenchData, openBenchData } from '../data.ts';
import { askCold, openAgent } from '../http.ts';
import { median } from '../measure.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { QUESTION_KINDS, type QuestionKind } from '../questions.ts';
import { type Row, say, timesRow, Unmeasured, unmeasuredRow } from '../report.ts';
import { findDifference } from '../rival/agree.ts';
import { parseRivals, RIVALS_ROWS_MAX, type RivalEntry, rivalGoal } from '../rival/names.ts';
import type { AnswerRow, OpenRivalEngine, Rival, RivalEngine } from '../rival/rival.ts';
import type { BenchOptions } from '../section.ts';

const ASKED = 40;
const WARM_UP = 3;
/** After so long in total, a rival gets no more questions of a kind; each kind is asked at least a few times. */
const BUDGET_MS = 60_000;
const ASKED_MIN = 3;
/** Projects for the comparison of answers before the measurement: those with the most, some, and the fewest rows. */
const COMPARED_AT = [0, 0.5, 1];

interface Opponent extends Rival {
  readonly entry: RivalEntry;
}

/** The same questions to other engines with the same rows and to ours over HTTP, in turn, one at a time. */
export async function rivalsSection({ rows, rivals }: BenchOptions): Promise<Row[]> {
  const entries = rivals ?? parseRivals();
  if (rivals === undefined && rows > RIVALS_ROWS_MAX)
    return entries.map(({ title }) =>
      unmeasuredRow(title, 'loading it takes hours, so only if --rivals names it'),
    );
  const data = await openBenchData(rows);
  const engines = new Map<OpenRivalEngine, RivalEngine>();
  const opponents: Opponent[] = [];
  const absent: Row[] = [];
  try {
    for (const entry of entries) {
      try {
        const engine = engines.get(entry.open) ?? (await entry.open(data, rows));
        engines.set(entry.open, engine);
        opponents.push({ ...(await engine.rival(entry.variant)), entry });
      } catch (error) {
        if (!(error instanceof Unmeasured)) throw error;
        absent.push(unmeasuredRow(entry.title, error.message));
      }
    }
    if (opponents.length === 0) return absent;
    return await withPastServer(data, 'steps', async (server) => {
      await compareAnswers(server, opponents, data.endMs);
      const measured: Row[] = [];
      for (const kind of QUESTION_KINDS)
        measured.push(...(await measure(server, opponents, { kind, data, rows })));
      return [...measured, ...absent];
    });
  } finally {
    for (const { close } of engines.values()) await close();
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
        const difference = findDifference(ours, (await rival.ask(question, nowMs)).rows());
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
  const agent = openAgent();
  const ours: number[] = [];
  const theirs = opponents.map((opponent) => ({ opponent, times: [] as number[] }));
  for (let i = 0; i < ASKED + WARM_UP; i++) {
    const question = kind.question(server.projects[i % server.projects.length] ?? '');
    const turns = [
      async () => ours.push(await askCold(server.url, agent, question)),
      ...theirs.map(({ opponent, times }) => async () => {
        if (isOverBudget(times)) return;
        times.push((await opponent.ask(question, data.endMs + i)).ms);
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
      ...rivalGoal(opponent.entry, kind, rows),
    });
  }
  return measured;
}

function isOverBudget(times: readonly number[]): boolean {
  return times.length >= WARM_UP + ASKED_MIN && times.reduce((sum, ms) => sum + ms, 0) > BUDGET_MS;
}
