import { Agent } from 'node:http';
import { send } from '../trial/http.ts';
import { pathOf, type Question } from './questions.ts';

/** Keeps connections open between questions. */
export function openAgent(): Agent {
  return new Agent({ keepAlive: true });
}

/**
 * Requests an answer that is not cached.
 *
 * @returns the duration, ms
 * @throws unless the status is 200
 */
export async function askCold(url: string, agent: Agent, question: Question): Promise<number> {
  return (await askText(url, agent, question)).ms;
}

/** Like `askCold`, with the text of the answer. */
export async function askText(
  url: string,
  agent: Agent,
  question: Question,
): Promise<{ ms: number; text: string }> {
  const path = pathOf(question);
  const startMs = performance.now();
  const { status, text } = await send(url, agent, { path, headers: { 'cache-control': 'no-cache' } });
  const ms = performance.now() - startMs;
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${text.slice(0, 500)}`);
  return { ms, text };
}
