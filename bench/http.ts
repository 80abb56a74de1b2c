import type { Agent } from 'node:http';
import { send } from '../trial/http.ts';
import { pathOf, type Question } from './questions.ts';

/**
 * Asks an endpoint for an answer that no cache of the service has.
 *
 * @returns how long it took, ms
 * @throws when it is not answered 200
 */
export async function askCold(url: string, agent: Agent, question: Question): Promise<number> {
  const path = pathOf(question);
  const startMs = performance.now();
  const { status, text } = await send(url, agent, { path, headers: { 'cache-control': 'no-cache' } });
  const ms = performance.now() - startMs;
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${text.slice(0, 500)}`);
  return ms;
}
