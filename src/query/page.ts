import type { Endpoint } from '../definitions/endpoint.ts';
import type { Pages } from '../definitions/pages.ts';
import { TailraceError } from '../errors.ts';
import { JSON_FORMAT, rowAt } from './format.ts';
import { bindPosition, type Position, positionBefore, readPosition } from './position.ts';
import type { Question } from './question.ts';
import type { Answer, Run, RunOptions } from './run.ts';

// Only events that come late, within the page itself, change it between two queries.
const TRIES_MAX = 5;

/**
 * Adds to each full page the position of its last row. A page in JSON has it in its last row; for other formats the positions are
 * asked for before and after the page, until both agree: then the page has the same rows.
 */
export function createPagedRun(run: Run): Run {
  const narrowed = new WeakMap<Endpoint, Endpoint>();

  /** The endpoint with its cursor columns alone. */
  function narrow(endpoint: Endpoint, { by }: Pages): Endpoint {
    const columns = endpoint.columns.filter(({ name }) => by.some((column) => column.name === name));
    const created = narrowed.get(endpoint) ?? { ...endpoint, columns };
    narrowed.set(endpoint, created);
    return created;
  }

  /** The positions of all rows of a page, in order. */
  async function readPositions(question: Question, pages: Pages, options: RunOptions): Promise<Position[]> {
    const endpoint = narrow(question.endpoint, pages);
    const key = `${question.key} positions`;
    const answer = await run({ ...question, endpoint, format: JSON_FORMAT, key }, options);
    return Array.from({ length: answer.rows }, (_, row) =>
      readPosition(pages, rowAt(JSON_FORMAT, answer, row)),
    );
  }

  async function runBetween(question: Question, pages: Pages, options: RunOptions): Promise<Answer> {
    // From the first row on: rows that come in newer than the page would push others out of it.
    let before = await readPositions(question, pages, options);
    const start = before[0] && positionBefore(pages, before[0]);
    const pinned = start === undefined ? question : at(question, start);
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      const answer = await run(pinned, options);
      const after = await readPositions(pinned, pages, options);
      if (JSON.stringify(before) === JSON.stringify(after)) return { ...answer, ...endOf(pages, after) };
      before = after;
    }
    throw new TailraceError(
      'overloaded',
      `the page changed while it was read, ${TRIES_MAX} times; ask again`,
    );
  }

  return async (question, options = {}) => {
    const { pages } = question.endpoint;
    if (pages === undefined) return await run(question, options);
    if (question.format.engineFormat !== JSON_FORMAT.engineFormat)
      return await runBetween(question, pages, options);
    const answer = await run(question, options);
    return answer.rows < pages.size ? answer : { ...answer, last: lastPosition(pages, answer) };
  };
}

/** The same question from another position on. */
export function at(question: Question, position: Position): Question {
  const { endpoint, values, key } = question;
  const moved = bindPosition(endpoint.pages, position);
  return { ...question, values: { ...values, ...moved }, key: `${key} at ${JSON.stringify(position)}` };
}

function lastPosition(pages: Pages, answer: Answer): Position {
  return readPosition(pages, rowAt(answer.format, answer, answer.rows - 1));
}

function endOf({ size }: Pages, positions: readonly Position[]): Pick<Answer, 'last'> {
  const last = positions.at(-1);
  return last === undefined || positions.length < size ? {} : { last };
}
