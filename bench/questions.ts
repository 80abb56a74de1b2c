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
  /** Goals for a median over HTTP, ms, by rows in the store; other sizes have none. */
  readonly belowMs: Readonly<Record<number, number>>;
}

const [MILLION, TEN_MILLION] = [1_000_000, 10_000_000];

function kind(
  endpoint: string,
  [name, value]: readonly [string, string],
  [million, ten]: readonly [number, number],
) {
  return {
    name: `${endpoint} ${value}`,
    question: (project: string) => ({ endpoint, parameters: { project, [name]: value } }),
    belowMs: { [MILLION]: million, [TEN_MILLION]: ten },
  };
}

/** Every endpoint, with its most frequent and its most expensive parameters. */
export const QUESTION_KINDS: readonly QuestionKind[] = [
  kind('functions.invocation-stats', ['interval', '1day'], [9, 7.8]),
  kind('functions.invocation-stats', ['interval', '7day'], [10, 10.1]),
  kind('logs.all', ['project_tier', 'PRO'], [7, 8]),
  kind('usage.api-counts', ['interval', 'hourly'], [6, 8]),
  kind('usage.api-counts', ['interval', 'daily'], [12, 25]),
];

export function pathOf({ endpoint, parameters }: Question): string {
  return `/api/endpoints/query/${endpoint}?${new URLSearchParams(parameters)}`;
}

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
