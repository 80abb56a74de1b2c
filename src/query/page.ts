import type { ResultColumn } from '../definitions/endpoint.ts';
import type { Pages } from '../definitions/pages.ts';
import { TailraceError } from '../errors.ts';
import { EARLIEST_MICROS, formatInstant, type Micros, parseInstant } from '../lib/instant.ts';
import { NDJSON_FORMAT, splitLines } from './format.ts';
import {
  bindPosition,
  comparePositions,
  findSkipped,
  type Position,
  positionBefore,
  readPosition,
  withSent,
} from './position.ts';
import type { Question } from './question.ts';
import type { Answer, Run, RunOptions } from './run.ts';

// Only events that come late, within the page itself, change it between two queries.
const TRIES_MAX = 5;

/**
 * Returns a function that runs a question about an opaque page (`isOpaquePage`), and adds to a full one where it ends:
 * the positions are asked for before and after the page, until both agree. Then the page has the same rows.
 */
export function createPageRun(run: Run) {
  /** The positions of all rows of a page, in order. */
  async function readPositions(question: Question, pages: Pages, options: RunOptions): Promise<Position[]> {
    const isOfCursor = ({ name }: ResultColumn) => pages.by.some((column) => column.name === name);
    const endpoint = { ...question.endpoint, columns: question.endpoint.columns.filter(isOfCursor) };
    const key = `${question.key} positions`;
    const { body } = await run({ ...question, endpoint, format: NDJSON_FORMAT, key }, options);
    return splitLines(body).map((row) => readPosition(pages, row));
  }

  return async (question: Question, pages: Pages, options: RunOptions): Promise<Answer> => {
    // From the first row on: rows that come in newer than the page would push others out of it.
    let before = await readPositions(question, pages, options);
    const [first] = before;
    const isPinned = first !== undefined && findSkipped(pages, question.values, first) > 0;
    const start = first && !isPinned ? positionBefore(pages, first) : undefined;
    const pinned = start === undefined ? question : at(question, start);
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      const answer = await run(pinned, options);
      const after = await readPositions(pinned, pages, options);
      if (JSON.stringify(before) === JSON.stringify(after))
        return { ...answer, ...endOf(pages, pinned, after) };
      before = after;
    }
    throw new TailraceError(
      'overloaded',
      `the page changed while it was read, ${TRIES_MAX} times; ask again`,
    );
  };
}

/** The same question from another position on. */
export function at(question: Question, position: Position): Question {
  const { endpoint, values, key } = question;
  const moved = bindPosition(endpoint.pages, position);
  return { ...question, values: { ...values, ...moved }, key: `${key} at ${JSON.stringify(position)}` };
}

/** The same question without rows from before an instant; unchanged if its range is not a parameter. */
export function since(question: Question, from: Micros): Question {
  const { endpoint, values } = question;
  const after = endpoint.pages?.range?.after;
  if (after === undefined) return question;
  const start = parseInstant(values[after] ?? '') ?? EARLIEST_MICROS;
  return { ...question, values: { ...values, [after]: formatInstant(Math.max(start, from - 1)) } };
}

/** Where a full page ends. @param positions of all its rows */
function endOf(pages: Pages, { values }: Question, positions: readonly Position[]): Pick<Answer, 'last'> {
  const last = positions.at(-1);
  if (last === undefined || positions.length < pages.size) return {};
  if (!pages.canSkip) return { last };
  const before = positions.findLastIndex((one) => comparePositions(pages, one, last) !== 0) + 1;
  const skipped = before === 0 ? findSkipped(pages, values, last) : 0;
  return { last: withSent(pages, last, positions.length - before + skipped) };
}
