import type { Source } from '../../src/definitions/source.ts';
import { send } from '../../trial/http.ts';
import { type BenchData, openBenchData } from '../data.ts';
import { openAgent } from '../http.ts';
import { median } from '../measure.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { type Row, say, timesRow, Unmeasured, unmeasuredRow } from '../report.ts';
import { findDifference } from '../rival/agree.ts';
import type { RivalAnswer } from '../rival/rival.ts';
import { openDuckDbSearch } from '../search/duckdb.ts';
import { SEARCH_KINDS, type SearchKind } from '../search/kind.ts';
import { openPostgresSearch } from '../search/postgres.ts';
import {
  LARGEST_SOURCE,
  SEARCH_SCOPES,
  type SearchQuestion,
  type SearchScope,
  searchPath,
} from '../search/question.ts';
import { type OpenSearchRival, readSources, type SearchRival } from '../search/rival.ts';
import type { BenchOptions } from '../section.ts';

const ASKED = 20;
const WARM_UP = 2;
/** After so long in total, a rival gets no more questions of a kind. */
const BUDGET_MS = 30_000;
const GOALS_ROWS = 10_000_000;
const HOUR_MS = 3_600_000;

interface Opponent {
  readonly open: OpenSearchRival;
  /** The least of its median divided by ours, with `GOALS_ROWS`. */
  readonly atLeast: number;
}

const OPPONENTS: Readonly<Record<string, Opponent>> = {
  postgresql: { open: openPostgresSearch, atLeast: 3 },
  duckdb: { open: openDuckDbSearch, atLeast: 1 },
};
/** Names of `--only`; the service is always measured. */
export const SEARCH_MEASUREMENTS = ['tailrace', ...Object.keys(OPPONENTS)];

type Ask = (question: SearchQuestion) => Promise<RivalAnswer>;

/** One side of the comparison, with its times of the kind that is being measured. */
interface Side {
  readonly name: string;
  readonly ask: Ask;
  readonly atLeast?: number;
}

/** Searches of one project's week over HTTP, and the same questions to other engines with the same rows, in turn. */
export async function searchSection({ rows, only }: BenchOptions): Promise<Row[]> {
  const data = await openBenchData(rows);
  const { rivals, absent } = await openRivals(data, { rows, only });
  try {
    return await withPastServer(data, 'steps', async (server) => {
      const agent = openAgent();
      const ours: Side = { name: 'Tailrace', ask: (question) => askOurs(server.url, agent, question) };
      const sides = [ours, ...rivals];
      const scopes = await findScopes(server, ours.ask, data.endMs);
      await compareAnswers(sides, scopes);
      const measured: Row[] = [];
      for (const kind of SEARCH_KINDS)
        for (const scope of scopes)
          measured.push(...(await measure(kind.isOwn === true ? [ours] : sides, { kind, scope, rows })));
      agent.destroy();
      return [...measured, ...absent];
    });
  } finally {
    for (const { close } of rivals) await close();
  }
}

async function openRivals(data: BenchData, { rows, only }: Pick<BenchOptions, 'rows' | 'only'>) {
  const rivals: (SearchRival & Side)[] = [];
  const absent: Row[] = [];
  for (const [name, { open, atLeast }] of Object.entries(OPPONENTS)) {
    if (only.length > 0 && !only.includes(name)) continue;
    try {
      rivals.push({ ...(await open(data, rows)), atLeast });
    } catch (error) {
      if (!(error instanceof Unmeasured)) throw error;
      absent.push(unmeasuredRow(`search: ${name}`, error.message));
    }
  }
  return { rivals, absent };
}

/** The questions of a scope: the same project and sources, each with another range and another identifier. */
interface ScopedQuestions {
  readonly name: SearchScope;
  ask(kind: SearchKind, nth: number): SearchQuestion;
}

/** Identifiers of events from the whole week of the project with the most events. */
async function findScopes({ projects }: PastServer, ask: Ask, endMs: number): Promise<ScopedQuestions[]> {
  const [project = ''] = projects;
  const all = await readSources();
  const one = all.filter(({ name }) => name === LARGEST_SOURCE);
  const identifiers: string[] = [];
  for (let nth = 0; nth < ASKED + WARM_UP; nth++) {
    const untilMs = endMs - nth * 7 * HOUR_MS;
    const answer = await ask({ part: 'rows', sources: one, project, untilMs });
    const [, found] = / \| ([\da-f]{16})-/.exec(String(answer.rows()[nth]?.['event_message'])) ?? [];
    if (found === undefined) throw new Error(`no identifier in the events before ${untilMs}`);
    identifiers.push(found);
  }
  let asked = 0;
  return SEARCH_SCOPES.map((name) => {
    const sources: readonly Source[] = name === 'one source' ? one : all;
    return {
      name,
      ask({ part, filter, field, isOwn }, nth) {
        const identifier = identifiers[nth % identifiers.length] ?? '';
        return {
          part,
          sources,
          project: isOwn === true ? '' : project,
          untilMs: endMs - asked++, // never the same question
          filter: filter?.(name, identifier),
          field: field?.(name),
        };
      },
    };
  });
}

async function askOurs(url: string, agent: ReturnType<typeof openAgent>, question: SearchQuestion) {
  const path = searchPath(question);
  const startMs = performance.now();
  const { status, text } = await send(url, agent, { path });
  const ms = performance.now() - startMs;
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${text.slice(0, 500)}`);
  return { ms, rows: () => JSON.parse(text).result };
}

/** @throws if the answers of the engines differ, which would make the comparison void */
async function compareAnswers(
  [ours, ...rivals]: readonly Side[],
  scopes: readonly ScopedQuestions[],
): Promise<void> {
  let compared = 0;
  for (const kind of SEARCH_KINDS.filter(({ isOwn }) => isOwn !== true)) {
    for (const scope of scopes) {
      const question = scope.ask(kind, 0);
      const expected = (await ours?.ask(question))?.rows() ?? [];
      for (const { name, ask } of rivals) {
        const difference = findDifference(expected, (await ask(question)).rows());
        if (difference !== undefined)
          throw new Error(`${name} answers something else to ${kind.name}, ${scope.name}: ${difference}`);
        compared++;
      }
    }
  }
  say(`search: ${compared} answers are the same as ours`);
}

interface Round {
  readonly kind: SearchKind;
  readonly scope: ScopedQuestions;
  readonly rows: number;
}

async function measure(sides: readonly Side[], { kind, scope, rows }: Round): Promise<Row[]> {
  const title = `search: ${kind.name}, ${scope.name}`;
  const measured = sides.map((side) => ({ side, times: [] as number[] }));
  for (let nth = 0; nth < ASKED + WARM_UP; nth++) {
    const question = scope.ask(kind, nth);
    const shift = nth % sides.length;
    // The order alternates, so that none always follows the same one.
    for (const { side, times } of [...measured.slice(shift), ...measured.slice(0, shift)])
      if (!isOverBudget(times)) times.push((await side.ask(question)).ms);
  }
  const medians = measured.map(({ times }) => median(times.slice(WARM_UP)));
  const [own = Number.NaN] = medians;
  say(`${title}: ${measured.map(({ side }, i) => `${side.name} ${medians[i]?.toFixed(1)} ms`).join(', ')}`);
  return measured.flatMap(({ side: { name, atLeast }, times }, i) => {
    const isGoal = rows === (kind.goalRows ?? GOALS_ROWS);
    const ownGoal = atLeast === undefined && isGoal && kind.belowMs !== undefined;
    const row = timesRow(`${title}, ${name}`, times.slice(WARM_UP), {
      ...(ownGoal && { goal: { below: kind.belowMs ?? 0 } }),
    });
    if (atLeast === undefined) return [row];
    const values = [(medians[i] ?? Number.NaN) / own];
    return [
      row,
      {
        name: `${title}, ${name} / Tailrace`,
        unit: 'ratio',
        values,
        ...(isGoal && { goal: { atLeast } }),
      },
    ];
  });
}

function isOverBudget(times: readonly number[]): boolean {
  return times.length > WARM_UP + 2 && times.reduce((sum, ms) => sum + ms, 0) > BUDGET_MS;
}
