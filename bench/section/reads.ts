import { Agent } from 'node:http';
import { type BenchData, inTemporaryFolder, openBenchData } from '../data.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { askNew, pathOf, QUESTION_KINDS, type Question, type QuestionKind } from '../questions.ts';
import { type BenchOptions, type Goal, median, type Row, say, timesRow, Unmeasured } from '../report.ts';
import { openDuckDb } from '../rival/duckdb.ts';
import { openPostgres } from '../rival/postgres.ts';
import { type AnswerRow, findDifference, type OpenRival, type Rival } from '../rival/rival.ts';

const ASKED = 40;
const WARM_UP = 5;
/** After so long in total, a rival gets no more questions of a kind; each kind is asked at least a few times. */
const BUDGET_MS = 60_000;
const ASKED_MIN = 3;
/** Projects for the comparison of answers before the measurement: those with the most, some, and the fewest rows. */
const COMPARED_AT = [0, 0.5, 1];
const GOALS_ROWS_MIN = 10_000_000;

interface Entry {
  readonly open: OpenRival;
  /** The least of its median divided by ours, with `GOALS_ROWS_MIN`. */
  readonly atLeast: (kind: string) => number;
}

/** The rivals, by their names in `--only`. PostgreSQL reads few rows by an index faster than any query is planned. */
export const RIVALS: Readonly<Record<string, Entry>> = {
  postgres: { open: openPostgres, atLeast: (kind) => (kind === 'usage.api-counts hourly' ? 0.5 : 1) },
  duckdb: { open: openDuckDb, atLeast: (kind) => (kind.startsWith('usage.') ? 3 : 1) },
};

/** One side of a comparison. */
interface Side {
  readonly name: string;
  /** @param i how many questions have been asked before @returns ms */
  readonly ask: (question: Question, i: number) => Promise<number>;
  /** The least of its median divided by ours. */
  readonly atLeast?: (kind: string) => number;
}

/** New answers over HTTP, and the same questions directly to the engine, in turn, one at a time. */
export async function readsSection({ rows }: BenchOptions): Promise<Row[]> {
  return await withPastServer(await openBenchData(rows), 'steps', async (server) => {
    const engine: Side = {
      name: 'the engine alone',
      ask: async (question) => (await server.ask(question)).ms,
      atLeast: () => 0.9,
    };
    return await measureAll(server, [engine], rows);
  });
}

/** The same questions to other engines with the same rows and to ours over HTTP, in turn, one at a time. */
export async function rivalsSection({ rows, only }: BenchOptions): Promise<Row[]> {
  const data = await openBenchData(rows);
  return await inTemporaryFolder(async (folder) => {
    const { rivals, absent } = await openRivals(data, folder, only);
    try {
      return await withPastServer(data, 'steps', async (server) => {
        await compareAnswers(server, rivals, data.endMs);
        const sides = rivals.map(({ name, ask, atLeast }): Side => {
          const own = async (question: Question, i: number) => (await ask(question, data.endMs + i)).ms;
          return { name, ask: own, ...(rows >= GOALS_ROWS_MIN && { atLeast }) };
        });
        return [...(await measureAll(server, sides, rows)), ...absent];
      });
    } finally {
      for (const { close } of rivals) await close();
    }
  });
}

type OpenedRival = Rival & Pick<Entry, 'atLeast'>;

async function openRivals(data: BenchData, folder: string, only: BenchOptions['only']) {
  const rivals: OpenedRival[] = [];
  const absent: Row[] = [];
  for (const [name, { open, atLeast }] of Object.entries(RIVALS)) {
    if (only.length > 0 && !only.includes(name)) continue;
    try {
      rivals.push({ ...(await open(data, folder)), atLeast });
    } catch (error) {
      if (!(error instanceof Unmeasured)) throw error;
      absent.push({ name, unit: '', values: [], reason: error.message });
    }
  }
  return { rivals, absent };
}

/** @throws if the answers of the engines differ, which would make the comparison void */
async function compareAnswers(
  { projects, ask }: PastServer,
  rivals: readonly Rival[],
  nowMs: number,
): Promise<void> {
  for (const { name, question: of } of QUESTION_KINDS) {
    for (const share of COMPARED_AT) {
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
  say(`rivals: ${QUESTION_KINDS.length * COMPARED_AT.length} answers of each are the same as ours`);
}

async function measureAll(server: PastServer, others: readonly Side[], rows: number): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true });
  const ours: Side = {
    name: 'Tailrace over HTTP',
    ask: async (question) => (await askNew(server.url, agent, pathOf(question))).ms,
  };
  const measured: Row[] = [];
  for (const kind of QUESTION_KINDS)
    measured.push(...(await measure(server, [ours, ...others], { kind, rows })));
  agent.destroy();
  return measured;
}

async function measure(
  { projects }: PastServer,
  sides: readonly Side[],
  { kind, rows }: { kind: QuestionKind; rows: number },
): Promise<Row[]> {
  const asked = sides.map((side) => ({ side, times: [] as number[] }));
  for (let i = 0; i < ASKED + WARM_UP; i++) {
    const question = kind.question(projects[i % projects.length] ?? '');
    const shift = i % sides.length;
    // The order alternates, so that none always follows the same one.
    for (const { side, times } of [...asked.slice(shift), ...asked.slice(0, shift)])
      if (!isOverBudget(times)) times.push(await side.ask(question, i));
  }
  const kept = asked.map(({ times }) => times.slice(Math.min(WARM_UP, times.length - 1)));
  const medians = kept.map(median);
  const [own = Number.NaN] = medians;
  say(`${kind.name}: ${sides.map(({ name }, i) => `${name} ${medians[i]?.toFixed(1)} ms`).join(', ')}`);
  return sides.flatMap(({ name, atLeast }, i) => {
    const title = `${kind.name}, ${name}`;
    const times = kept[i] ?? [];
    const below = kind.belowMs[rows];
    if (i === 0) return [timesRow(title, times, goalOf(below === undefined ? undefined : { below }))];
    const goal = atLeast && { atLeast: atLeast(kind.name) };
    const values = [median(times) / own];
    return [timesRow(title, times), { name: `${title} / Tailrace`, unit: 'ratio', values, ...goalOf(goal) }];
  });
}

function goalOf(goal: Goal | undefined): { goal?: Goal } {
  return goal === undefined ? {} : { goal };
}

function isOverBudget(times: readonly number[]): boolean {
  return times.length >= WARM_UP + ASKED_MIN && times.reduce((sum, ms) => sum + ms, 0) > BUDGET_MS;
}
