import { LRUCache } from 'lru-cache';
import type { Endpoint } from '../definitions/endpoint.ts';
import { TailraceError } from '../errors.ts';
import { findOwner } from './pins.ts';
import type { Question } from './question.ts';
import type { Answer, Run } from './run.ts';

// A forgotten key costs one query.
const MISSES_MAX = 10_000;
const SKIPPED_MAX = 64;

/**
 * Runs callers' SELECTs over typed columns first, if they have such a form, and as they are only if that fails. Of a
 * project whose events do not have these columns, it tries 1 of 2, then 1 of 3, 5 and so on, up to 1 of 65 questions of
 * a table.
 */
export function createTypedFirst(run: Run): Run {
  const misses = new LRUCache<string, { skipped: number; left: number }>({ max: MISSES_MAX });

  /** Whether to try; counts what is skipped. */
  function isTried(key: string): boolean {
    const missed = misses.get(key);
    if (missed === undefined || missed.left === 0) return true;
    missed.left--;
    return false;
  }

  function learn(key: string): void {
    const skipped = Math.min((misses.get(key)?.skipped ?? 0.5) * 2, SKIPPED_MAX);
    misses.set(key, { skipped, left: skipped });
  }

  async function runBoth(
    question: Question,
    typed: Endpoint,
    options: Parameters<Run>[1] = {},
  ): Promise<Answer> {
    const key = keyOf(question);
    if (!isTried(key)) return await run(question, options);
    try {
      const answer = await run({ ...question, endpoint: typed }, { ...options, streams: false });
      misses.delete(key);
      return answer;
    } catch (error) {
      if (!(error instanceof TailraceError) || error.code !== 'query_failed') throw error;
      learn(key);
      return await run(question, options); // any other error is that of the SELECT as it is
    }
  }

  return async (question, options = {}) => {
    const { typedFirst, pages } = question.endpoint;
    // What has been sent cannot be taken back.
    const mayStream = options.streams === true && question.format.framing === undefined;
    if (typedFirst === undefined || pages !== undefined || mayStream) return await run(question, options);
    return await runBoth(question, typedFirst, options);
  };
}

/** The key by which questions share what was learnt: endpoint, project and columns of the SELECT. */
function keyOf({ endpoint, values }: Question): string {
  return JSON.stringify([
    endpoint.fileHash,
    findOwner(endpoint, values),
    endpoint.columns.map(({ name }) => name),
  ]);
}
