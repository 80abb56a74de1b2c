import type { Agent } from 'node:http';
import { send } from '../../trial/http.ts';
import type { BenchData } from '../data.ts';
import { openAgent } from '../http.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { pathOf } from '../questions.ts';
import { say } from '../report.ts';
import { takeFamily } from './family.ts';
import type { FigureName } from './figure.ts';
import type { Reference } from './reference.ts';
import { type Rounds, ratioOf } from './rounds.ts';

const ROUNDS = 7;
const ASKED = 8;
const WARM_UP = 5;
const COUNTS = 30;

const stats = (interval: string) => (project: string) =>
  pathOf({ endpoint: 'functions.invocation-stats', parameters: { project, interval } });
const usage = (interval: string) => (project: string) =>
  pathOf({ endpoint: 'usage.api-counts', parameters: { project, interval } });
const WEEK_MS = 7 * 86_400_000;

/** The path of each kind of question. */
const KINDS = {
  'statistics-1day': stats('1day'),
  'statistics-7day': stats('7day'),
  'newest-100': (project) => pathOf({ endpoint: 'logs.all', parameters: { project, project_tier: 'PRO' } }),
  'usage-hourly': usage('hourly'),
  'usage-daily': usage('daily'),
  search: (project, endMs) => {
    const [from, until] = [endMs - WEEK_MS, endMs].map((ms) => new Date(ms).toISOString());
    return `/api/search?${new URLSearchParams({ project, q: 'level:error', from: from ?? '', until: until ?? '' })}`;
  },
} satisfies Partial<Record<FigureName, (project: string, endMs: number) => string>>;

type Kind = keyof typeof KINDS;
const KIND_NAMES = Object.keys(KINDS) as Kind[]; // the keys of a constant

/** The core time of a new answer over HTTP, beside that of a bare count in the reference, ms; by turns. */
export async function measureQuestions(data: BenchData, reference: Reference): Promise<Record<Kind, Rounds>> {
  return await withPastServer(data, 'steps', async (server) => {
    const agent = openAgent();
    const ask = (kind: Kind, times: number) => askEach(server, agent, { kind, times, endMs: data.endMs });
    const ours = mapKinds((): number[] => []);
    const theirs: number[] = [];
    for (const kind of KIND_NAMES) await ask(kind, WARM_UP);
    await reference.measure('count', COUNTS);
    for (let round = 1; round <= ROUNDS; round++) {
      for (const kind of KIND_NAMES) {
        const { serviceMs, engineMs } = await takeFamily(server.pid, () => ask(kind, ASKED));
        ours[kind].push((serviceMs + engineMs) / ASKED);
        theirs.push(await reference.measure('count', COUNTS));
      }
    }
    agent.destroy();
    const rounds = mapKinds((kind) => ({ ours: ours[kind], theirs }));
    for (const kind of KIND_NAMES)
      say(
        `guard: ${kind}: ${ours[kind].map((ms) => ms.toFixed(1)).join(' ')} core ms, ${ratioOf(rounds[kind]).toFixed(2)} counts`,
      );
    return rounds;
  });
}

/** Asks for several projects, one after another. @throws unless each answer is new */
async function askEach(
  { url, projects }: PastServer,
  agent: Agent,
  { kind, times, endMs }: { kind: Kind; times: number; endMs: number },
): Promise<void> {
  for (let i = 0; i < times; i++) {
    const path = KINDS[kind](projects[i % projects.length] ?? '', endMs);
    const { status, text } = await send(url, agent, { path, headers: { 'cache-control': 'no-cache' } });
    if (status !== 200) throw new Error(`${path} was answered ${status}: ${text.slice(0, 500)}`);
  }
}

function mapKinds<T>(of: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(KIND_NAMES.map((kind) => [kind, of(kind)])) as Record<Kind, T>; // all kinds
}
