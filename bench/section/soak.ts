import { Agent } from 'node:http';
import { send } from '../../trial/http.ts';
import { openBenchData } from '../data.ts';
import { type LoadJob, type LoadResult, runLoad } from '../load.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { pathOf, QUESTION_KINDS, type Question } from '../questions.ts';
import { type BenchOptions, type Row, rssRows, sampleRss } from '../report.ts';

/** 64 in all. */
const CONNECTIONS = { cached: 52, cold: 8, ingest: 4 };
// Callers with pauses, below the capacity of the cores, which `cached` measures.
const PAUSE_MS = { cached: 20, cold: 0, ingest: 200 };
const EVENTS_PER_REQUEST = 100;
const CACHED_PROJECTS = 10;
/** Questions of each kind: more than two cores answer in ten minutes, so none is repeated. */
const COLD_QUESTIONS = 20_000;
const RSS_MB_MAX = 1_074;

/** The parameter that makes a question unique. */
type NewValue = (i: number, nowMs: number, given: Question['parameters']) => Record<string, string>;

const NEW_VALUES: Readonly<Record<string, NewValue>> = {
  'logs.all': (i, nowMs) => ({ iso_timestamp_end: new Date(nowMs - i).toISOString() }),
  'usage.api-counts': (i, _nowMs, { project = '' }) => ({ project: `${project}|no-project-${i}` }),
  'functions.invocation-stats': (i) => ({ function_id: `function-${i}` }),
};

/** Resident memory under mixed load: cached answers, new answers of all endpoints, and new events. */
export async function soakSection({ rows, minutes }: BenchOptions): Promise<Row[]> {
  const data = await openBenchData(rows);
  return await withPastServer(data, 'runs', async (server) => {
    await warmUp(server);
    const { rss, result } = await sampleRss(server.rssMb, () => loadAll(server, data.endMs, minutes * 60));
    const rate = ({ requests, seconds }: LoadResult) => requests / seconds;
    const { cached, cold, ingest } = result;
    const failures = cached.failures + cold.failures + ingest.failures;
    return [
      ...rssRows(`RSS under mixed load, 64 connections, ${minutes} min`, rss, RSS_MB_MAX),
      { name: 'soak: answers from the cache', unit: 'requests/s', values: [rate(cached)] },
      { name: 'soak: each of them', unit: 'ms', values: [cached.p50Ms], p99: cached.p99Ms },
      { name: 'soak: new answers', unit: 'requests/s', values: [rate(cold)] },
      { name: 'soak: each of these', unit: 'ms', values: [cold.p50Ms], p99: cold.p99Ms },
      { name: 'soak: new events', unit: 'events/s', values: [rate(ingest) * EVENTS_PER_REQUEST] },
      { name: 'soak: answers other than 200', unit: 'answers', values: [failures], goal: { below: 1 } },
    ];
  });
}

async function loadAll({ url, projects }: PastServer, nowMs: number, secondsMax: number) {
  const run = (kind: keyof typeof CONNECTIONS, send: LoadJob['send']) =>
    runLoad({
      url,
      connections: CONNECTIONS[kind],
      pauseMs: PAUSE_MS[kind],
      secondsMax,
      requestsMax: Number.MAX_SAFE_INTEGER,
      send,
    });
  const [cached, cold, ingest] = await Promise.all([
    run('cached', { paths: cachedPaths(projects) }),
    run('cold', { paths: coldPaths(projects, nowMs) }),
    run('ingest', { eventsPerRequest: EVENTS_PER_REQUEST, nowMs }),
  ]);
  return { cached, cold, ingest };
}

/** Fills the cache first: with all 52 connections at once, these requests would queue behind the uncached ones. */
async function warmUp({ url, projects }: PastServer): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  for (const path of cachedPaths(projects)) await send(url, agent, { path });
  agent.destroy();
}

function cachedPaths(projects: readonly string[]): string[] {
  const cached = QUESTION_KINDS.filter(({ name }) => !name.startsWith('logs.all'));
  return projects
    .slice(0, CACHED_PROJECTS)
    .flatMap((project) => cached.map(({ question }) => pathOf(question(project))));
}

function coldPaths(projects: readonly string[], nowMs: number): string[] {
  return Array.from({ length: COLD_QUESTIONS }, (_, i) => projects[i % projects.length] ?? '').flatMap(
    (project, i) =>
      QUESTION_KINDS.map(({ question }) => {
        const { endpoint, parameters } = question(project);
        return pathOf({
          endpoint,
          parameters: { ...parameters, ...NEW_VALUES[endpoint]?.(i, nowMs, parameters) },
        });
      }),
  );
}
