import type { Agent } from 'node:http';
import { send } from '../trial/http.ts';

/** The parameters of a request. */
export interface Question {
  readonly endpoint: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** A kind of question, asked for one project after another. */
export interface QuestionKind {
  readonly name: string;
  readonly question: (project: string) => Question;
  readonly isCached: boolean;
}

function kind(endpoint: string, name: string, value: string, isCached = true): QuestionKind {
  const question = (project: string) => ({ endpoint, parameters: { project, [name]: value } });
  return { name: `${endpoint} ${value}`, question, isCached };
}

/** Every endpoint, with its most frequent and its most expensive parameters. */
export const QUESTION_KINDS: readonly QuestionKind[] = [
  kind('functions.invocation-stats', 'interval', '1day'),
  kind('functions.invocation-stats', 'interval', '7day'),
  kind('logs.all', 'project_tier', 'PRO', false),
  kind('usage.api-counts', 'interval', 'hourly'),
  kind('usage.api-counts', 'interval', 'daily'),
];

export function pathOf({ endpoint, parameters }: Question): string {
  return `/api/endpoints/query/${endpoint}?${new URLSearchParams(parameters)}`;
}

/** The path of the least that a query over a table can be: bench/endpoints. */
export function countPath(project: string): string {
  return pathOf({ endpoint: 'bench.count', parameters: { project } });
}

/** A search in all sources, over a time that ends at an instant. */
export interface SearchKind {
  readonly name: string;
  readonly path: (project: string, untilMs: number) => string;
}

function search(name: string, hours: number, rest: Readonly<Record<string, string>> = {}): SearchKind {
  const path = (project: string, untilMs: number) => {
    const [from = '', until = ''] = [untilMs - hours * 3_600_000, untilMs].map((ms) =>
      new Date(ms).toISOString(),
    );
    return `/api/search?${new URLSearchParams({ project, q: 'level:error', from, until, ...rest })}`;
  };
  return { name, path };
}

export const WEEK_SEARCH = search('newest 100 errors of a week, all sources', 168);

export const SEARCH_KINDS: readonly SearchKind[] = [
  search('newest 100 errors of an hour, all sources', 1),
  search('newest 100 errors of a day, all sources', 24),
  WEEK_SEARCH,
  search('histogram of the errors of a week, all sources', 168, { part: 'histogram' }),
];

/** Of every event of a week, with the goal, ms. */
export const ANALYSIS_KINDS: readonly (SearchKind & { readonly below: number })[] = [
  { ...search('patterns of a week, all sources', 168, { part: 'patterns', q: '' }), below: 1_500 },
  {
    ...search('errors of a week compared with the rest, all sources', 168, { part: 'compare' }),
    below: 2_000,
  },
  { ...search('fields of a week, all sources', 168, { part: 'fields', q: '' }), below: 2_000 },
];

/**
 * Requests an answer that is not cached, over a connection of `agent`.
 *
 * @returns the duration, ms, and the text of the answer
 * @throws unless the status is 200
 */
export async function askNew(url: string, agent: Agent, path: string): Promise<{ ms: number; text: string }> {
  const startMs = performance.now();
  const { status, text } = await send(url, agent, { path, headers: { 'cache-control': 'no-cache' } });
  const ms = performance.now() - startMs;
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${text.slice(0, 500)}`);
  return { ms, text };
}

/** Requests the same answer until it comes from the cache. @returns the duration of that request, ms */
export async function askCached(url: string, agent: Agent, path: string): Promise<number> {
  for (let tries = 0; tries < 5; tries++) {
    const startMs = performance.now();
    const { status, headers } = await send(url, agent, { path });
    const ms = performance.now() - startMs;
    if (status === 200 && /\bhit\b/.test(String(headers['cache-status']))) return ms;
  }
  throw new Error(`${path} was not answered from the cache`);
}
