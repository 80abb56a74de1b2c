import { setImmediate } from 'node:timers/promises';
import type { AskStep } from '../definitions/endpoint.ts';
import { NDJSON_FORMAT, splitLines } from './format.ts';
import type { Question } from './question.ts';
import type { Run, RunOptions } from './run.ts';

type Prepare = NonNullable<Question['endpoint']['prepare']>;

/**
 * Runs questions whose last query depends on the rows of others, one after another. All have the same `@now`.
 *
 * @param now ms since the epoch
 */
export function createPrepared(run: Run, now: () => number): Run {
  async function runAll(question: Question, prepare: Prepare, options: RunOptions) {
    const { endpoint } = question;
    let engineMs = 0;
    const ask: AskStep = async (step) => {
      const asked = { ...question, endpoint: { ...endpoint, ...step }, format: NDJSON_FORMAT };
      const answer = await run(asked, { ...options, streams: false });
      engineMs += answer.engineMs;
      await setImmediate(); // other requests have their turn before the rows are read
      return splitLines(answer.body).map((line) => JSON.parse(line.toString()));
    };
    const { writeSelect, ...prepared } = await prepare(ask);
    const last = await run({ ...question, endpoint: { ...endpoint, writeSelect } }, options);
    return { ...last, ...prepared, engineMs: engineMs + last.engineMs };
  }

  return async (question, options = {}) => {
    const { prepare } = question.endpoint;
    if (prepare === undefined) return await run(question, options);
    return await runAll(question, prepare, { instantMs: now(), ...options });
  };
}
