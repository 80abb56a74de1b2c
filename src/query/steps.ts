import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { AskStep, Endpoint } from '../definitions/endpoint.ts';
import { CURSOR_PREFIX, PAGE_SKIP, type Pages } from '../definitions/pages.ts';
import { queryTimeout } from '../engine/failure.ts';
import { TailraceError } from '../errors.ts';
import { createDeadline } from '../lib/abort.ts';
import { MICROS_PER_DAY, MICROS_PER_MINUTE, MICROS_PER_MS, type Micros } from '../lib/instant.ts';
import { NDJSON_FORMAT, splitLines } from './format.ts';
import { findOwner } from './pins.ts';
import { findPageRange, findSkipped, positionBefore, readPosition } from './position.ts';
import { at, isOpaquePage, type Question } from './question.ts';
import type { Answer, Run, RunOptions } from './run.ts';

/** Runs questions of several queries, with the time of one: pages, faster forms, samples. @param now ms since the epoch */
export function createSteps(run: Run, timeoutMs: number, now: () => number): Run {
  const runNewest = createNewestFirst(run, now);
  const runOpaque = createPageRun(runNewest);
  const runTyped = createTypedFirst(run);
  const runPrepared = createPrepared(run, now);
  const runSteps: Run = (question, how = {}) => {
    const { pages, typedFirst, prepare } = question.endpoint;
    if (prepare !== undefined) return runPrepared(question, prepare, how);
    if (pages !== undefined)
      return isOpaquePage(question) ? runOpaque(question, pages, how) : runNewest(question, how);
    return typedFirst === undefined ? run(question, how) : runTyped(question, typedFirst, how);
  };
  return async (question, how = {}) => {
    const { pages, typedFirst, prepare } = question.endpoint;
    if (!(pages ?? typedFirst ?? prepare)) return await run(question, how);
    const deadline = createDeadline(timeoutMs, () => queryTimeout(timeoutMs), how.signal);
    return await runSteps(question, { ...how, signal: deadline.signal }).finally(deadline.clear);
  };
}

// A page that it does not fill costs a second query. A day, two parts at most, takes the engine little more time than
// an hour.
const FIRST_STRETCH: Micros = MICROS_PER_DAY;
const STRETCH_MIN: Micros = MICROS_PER_MINUTE;
// Rates vary: the next page may need more time than the last one.
const RESERVE = 2;
// What is forgotten costs a query. Keys hold callers' values, so their characters are bounded, too.
const LEARNT_MAX = 20_000;
const LEARNT_CHARS_MAX = 8 * 1024 * 1024;

/**
 * Runs questions with the newest rows first: asks for the newest stretch of time, and for all of it only if that has
 * less than a page. A full page of the stretch is the whole answer, since rows before the stretch are older than each
 * of its rows. Both queries have the same `@now`. Stretches are learnt from answers, so a known question takes one
 * query as long as its rate does not fall.
 *
 * @param now ms since the epoch
 */
function createNewestFirst(run: Run, now: () => number): Run {
  const learnt = new LRUCache<string, Micros>({
    max: LEARNT_MAX,
    maxSize: LEARNT_CHARS_MAX,
    sizeCalculation: (_stretch, key) => key.length,
  });

  return async (question, options = {}) => {
    const asked = findPageQuery(question);
    if (asked === undefined) return await run(question, options);
    const { key, size, from, until } = asked;
    const instantMs = now();
    const end = Math.min(until, instantMs * MICROS_PER_MS);
    const stretch = learnt.get(key) ?? FIRST_STRETCH;
    const start = Math.max(end - stretch, from);
    const runFrom = (first: Micros, how: RunOptions) => run(question, { ...how, from: first, instantMs });

    const { onJoin, onJoinAgain } = repeatJoins(options.onJoin);
    const newest = await runFrom(start, { ...options, onJoin });
    const isWhole = start === from || newest.rows >= size;
    const answer = isWhole ? newest : await runFrom(from, { ...options, onJoin: onJoinAgain });
    // A range with less than a page only tells that a page needs more time.
    if (answer.rows < size) learnt.set(key, Math.max((end - from) * RESERVE, stretch));
    else if (answer.last !== undefined)
      learnt.set(key, Math.max((end - Number(answer.last[0])) * RESERVE, STRETCH_MIN));
    return isWhole ? answer : { ...answer, engineMs: newest.engineMs + answer.engineMs };
  };
}

/**
 * Returns the key of all questions that share a stretch, which differ only in their range of time and their format, the
 * rows of a full page, and the time of the rows, both inclusive; `undefined` for endpoints without `@page_from`.
 */
function findPageQuery({ endpoint, values }: Question) {
  const { pages, id, hash, parameters } = endpoint;
  if (pages?.range === undefined) return undefined;
  const { after, until } = pages.range;
  // Times of a search are in other parameters, from which the service computes the two.
  const timestamps = parameters.filter(({ type }) => type === 'timestamp');
  const times = new Set([after, until, ...timestamps.map(({ name }) => name)]);
  const shared = Object.entries(values).filter(
    ([name]) => !times.has(name) && !name.startsWith(CURSOR_PREFIX) && name !== PAGE_SKIP,
  );
  const key = JSON.stringify([id, hash, shared]);
  return { key, size: pages.size, ...findPageRange(pages, pages.range, values) };
}

/** The second query waits in the lanes of all callers that joined during the first. */
function repeatJoins(onJoin: RunOptions['onJoin']) {
  const joined: string[] = [];
  if (onJoin === undefined) return {};
  onJoin((lane) => void joined.push(lane));
  const onJoinAgain: typeof onJoin = (listener) => {
    onJoin(listener);
    for (const lane of joined) listener(lane);
  };
  return { onJoin, onJoinAgain };
}

// Only events that come late, within the page itself, change it between two queries.
const TRIES_MAX = 5;

/**
 * Returns a function that runs a question about an opaque page (`isOpaquePage`), and adds to a full one where it ends:
 * the positions of its rows are asked for before and after the page, until both agree. Then the page has the same rows.
 */
function createPageRun(run: Run) {
  return async (question: Question, pages: Pages, options: RunOptions): Promise<Answer> => {
    const readPositions = (asked: Question) => {
      const columns = asked.endpoint.columns.filter(({ name }) =>
        pages.by.some((column) => column.name === name),
      );
      const endpoint = { ...asked.endpoint, columns };
      return run({ ...asked, endpoint, format: NDJSON_FORMAT, key: `${asked.key} positions` }, options);
    };

    // From the first row on: rows that come in newer than the page would push others out of it.
    let before = await readPositions(question);
    const [first] = splitLines(before.body)
      .slice(0, 1)
      .map((row) => readPosition(pages, row));
    const isPinned = first !== undefined && findSkipped(pages, question.values, first) > 0;
    const start = first && !isPinned ? positionBefore(pages, first) : undefined;
    const pinned = start === undefined ? question : at(question, start);
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      const answer = await run(pinned, options);
      const after = await readPositions(pinned);
      if (before.body.equals(after.body))
        return { ...answer, ...(after.last !== undefined && { last: after.last }) };
      before = after;
    }
    throw new TailraceError(
      'overloaded',
      `the page changed while it was read, ${TRIES_MAX} times; ask again`,
    );
  };
}

// A forgotten key costs one query.
const MISSES_MAX = 10_000;
const SKIPPED_MAX = 64;

/**
 * Returns a function that runs a caller's SELECT over typed columns first, and as it is only if that fails. Of a
 * project whose events do not have these columns, it tries 1 of 2, then 1 of 3, 5 and so on, up to 1 of 65 questions of
 * a table.
 */
function createTypedFirst(run: Run) {
  const misses = new LRUCache<string, { skipped: number; left: number }>({ max: MISSES_MAX });
  return async (question: Question, typed: Endpoint, options: RunOptions): Promise<Answer> => {
    const { endpoint, values } = question;
    const columns = endpoint.columns.map(({ name }) => name);
    const key = JSON.stringify([endpoint.fileHash, findOwner(endpoint, values), columns]);
    const missed = misses.get(key);
    if (missed !== undefined && missed.left-- > 0) return await run(question, options);
    try {
      const answer = await run({ ...question, endpoint: typed }, options);
      misses.delete(key);
      return answer;
    } catch (error) {
      if (!(error instanceof TailraceError) || error.code !== 'query_failed') throw error;
      const skipped = Math.min((missed?.skipped ?? 0.5) * 2, SKIPPED_MAX);
      misses.set(key, { skipped, left: skipped });
      return await run(question, options); // any other error is that of the SELECT as it is
    }
  };
}

type Prepare = NonNullable<Question['endpoint']['prepare']>;

/** Returns a function that runs a question whose last query depends on rows of others, all with the same `@now`. */
function createPrepared(run: Run, now: () => number) {
  return async (question: Question, prepare: Prepare, how: RunOptions): Promise<Answer> => {
    const options = { instantMs: now(), ...how };
    const { endpoint } = question;
    let engineMs = 0;
    const ask: AskStep = async (step) => {
      const asked = { ...question, endpoint: { ...endpoint, ...step }, format: NDJSON_FORMAT };
      const answer = await run(asked, options);
      engineMs += answer.engineMs;
      await setImmediate(); // other requests have their turn before the rows are read
      return splitLines(answer.body).map((line) => JSON.parse(line.toString()));
    };
    const { writeSelect, ...prepared } = await prepare(ask);
    const last = await run({ ...question, endpoint: { ...endpoint, writeSelect } }, options);
    return { ...last, ...prepared, engineMs: engineMs + last.engineMs };
  };
}
