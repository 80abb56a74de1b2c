import { diff, isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import { createEvaluate } from '../../alerts/evaluate.ts';
import { replay } from '../../alerts/replay.ts';
import type { Endpoint } from '../../definitions/endpoint.ts';
import { CURSOR_PARAMETER } from '../../definitions/pages.ts';
import type { Registry } from '../../definitions/registry.ts';
import type { Engine } from '../../engine/engine.ts';
import { truncateTable } from '../../engine/table.ts';
import { TailraceError } from '../../errors.ts';
import { mergeParameters } from '../../http/routes/query.ts';
import { insertEvents } from '../../ingest/rows.ts';
import { parseExactJson } from '../../lib/json.ts';
import { createCursors } from '../../query/cursor.ts';
import type { RawParameters } from '../../query/parameters.ts';
import { parsePinnedParameters } from '../../query/pins.ts';
import { bindPosition } from '../../query/position.ts';
import { createQuestion } from '../../query/question.ts';
import { createRunner } from '../../query/run.ts';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { isMap, type Row, type TestCase } from './test-case.ts';
import type { TestEvents } from './test-events.ts';
import type { TestFile } from './test-file.ts';

export interface CaseResult {
  readonly file: string;
  readonly line: number;
  readonly name: string;
  /** Why it failed, in lines; empty if it passed. */
  readonly failure: readonly string[];
}

export interface TestEngine {
  readonly engine: Engine;
  readonly registry: Registry;
  /** Aborting stops the running query and throws the signal's reason. */
  readonly signal: AbortSignal | undefined;
}

/** Runs the cases of one file on only its events. */
export async function runTestFile(test: TestFile, events: TestEvents, on: TestEngine): Promise<CaseResult[]> {
  const { engine } = on;
  try {
    for (const [source, own] of events) await insertEvents(engine, source, own);
    const ask = createAsk(test, on);
    const results: CaseResult[] = [];
    for (const one of test.cases) {
      const { name, line } = one;
      const outcome = await ask(one);
      results.push({ file: test.file, line, name, failure: explainFailure(one, outcome, test.endpoint) });
    }
    return results;
  } finally {
    for (const source of events.keys()) await engine.command(truncateTable(source, engine.cluster));
  }
}

/** The response to a request. `cursor`: of the next page, as in its Link. */
type Outcome =
  | { readonly rows: readonly Row[]; readonly cursor?: string | undefined }
  | { readonly error: TailraceError };

/** Runs a request as a POST does: parameters, pins, the page, the SELECT of a caller, the instant. */
function createAsk({ endpoint }: TestFile, { engine, registry, signal }: TestEngine) {
  let nowMs: number | undefined;
  let last: Outcome = { rows: [] };
  const cursors = createCursors(new Uint8Array(32)); // they never leave this process
  const sandbox = createSandbox(engine, { now: () => nowMs ?? 0 });
  const run = createRunner(engine, () => nowMs ?? 0);

  async function ask({ pins = {}, parameters = {} }: TestCase, page: RawParameters): Promise<Outcome> {
    const raw = mergeParameters(page, parameters, endpoint.parameters);
    const first = parsePinnedParameters(endpoint, raw, { pins });
    const values = { ...first, ...bindPosition(endpoint.pages, cursors.read(endpoint, first, raw)) };
    const asked = await sandbox(endpoint, raw, { signal });
    const { body, last: end } = await run(createQuestion(asked, values), { signal });
    const { result } = parseExactJson(body.toString()) as { result: Row[] }; // written by query/format.ts
    return { rows: result, cursor: end && cursors.createWriter(endpoint, values)(end) };
  }

  const evaluate = createEvaluate({ registry, run });

  async function askAlert(name: string): Promise<Outcome> {
    const options = { evaluate, signal: signal ?? new AbortController().signal };
    const { firing, lastError } = await replay(registry.getAlert(name), { untilMs: nowMs ?? 0 }, options);
    if (lastError !== undefined) throw new TailraceError('query_failed', lastError);
    return { rows: firing.map(({ labels }) => labels) };
  }

  async function askNext(one: TestCase): Promise<Outcome> {
    if ('error' in last) return last;
    const { cursor } = last;
    // Without a Link there is no further page.
    return cursor === undefined ? { rows: [] } : await ask(one, { [CURSOR_PARAMETER]: cursor });
  }

  return async (one: TestCase): Promise<Outcome> => {
    nowMs = one.nowMs;
    try {
      if (one.alert !== undefined) return await askAlert(one.alert);
      last = await (one.cursor === undefined ? ask(one, {}) : askNext(one));
    } catch (error) {
      if (!(error instanceof TailraceError) || error.code === 'engine_unavailable') throw error;
      last = { error };
    }
    return last;
  };
}

/** What a case expects: one of the two. */
type Expectation = { readonly rows?: readonly Row[]; readonly error?: TestCase['error'] };

/** Describes why a case failed; empty if it passed. */
function explainFailure(one: TestCase, outcome: Outcome, endpoint: Endpoint): string[] {
  const expected = adoptRows(one, outcome, endpoint);
  if (isExpected(expected, outcome)) return [];
  const why = 'error' in outcome ? [`returned ${outcome.error.code}: ${outcome.error.message}`] : [];
  return [...why, '- expected', '+ returned', ...diffLines(expected, outcome)];
}

/** Whether an answer is the expected one: the same rows in the same order, or the same error. */
function isExpected({ rows, error }: Expectation, outcome: Outcome): boolean {
  if ('rows' in outcome) return isDeepStrictEqual(rows, outcome.rows);
  if (error?.code !== outcome.error.code) return false;
  const { parameter } = error;
  return parameter === undefined || outcome.error.errors.some((one) => one.parameter === parameter);
}

/**
 * Returns an expectation in which numbers that are near those of the answer are replaced by them, and columns have their
 * order. Both sides can then be compared exactly, even as text.
 */
function adoptRows(expected: TestCase, outcome: Outcome, { columns }: Endpoint): Expectation {
  const { rows, approximately = 0 } = expected;
  if (rows === undefined || 'error' in outcome) return expected;
  // Integers are counts and times, to which a share does not apply.
  const isNear = (name: string) => columns.some((one) => one.name === name && one.type === 'number');
  const toleranceOf = (name: string) => (isNear(name) ? approximately : 0);
  return { rows: rows.map((row, i) => adoptMembers(row, outcome.rows[i] ?? {}, toleranceOf)) };
}

/** @param toleranceOf returns the largest difference of a column's number, as a share of the larger one; 0: exact */
function adoptMembers(value: Row, other: Row, toleranceOf: (column: string) => number): Row {
  const shared = Object.keys(other).filter((name) => Object.hasOwn(value, name));
  const names = new Set([...shared, ...Object.keys(value)]);
  return Object.fromEntries(
    [...names].map((name) => [name, adoptValue(value[name], other[name], toleranceOf(name))]),
  );
}

function adoptValue(value: unknown, other: unknown, tolerance: number): unknown {
  if (isNumber(value) && isNumber(other)) {
    if (tolerance === 0 && typeof value === 'bigint') return value; // exact, as doubles are not
    const [a, b] = [Number(value), Number(other)]; // the engine writes even 1e20 as an integer
    return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b)) ? other : value;
  }
  if (isMap(value) && isMap(other)) return adoptMembers(value, other, () => tolerance);
  if (!Array.isArray(value) || !Array.isArray(other)) return value;
  return value.map((one, i) => adoptValue(one, other[i], tolerance));
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Returns the expectation that an answer would meet. */
function expectationOf(outcome: Outcome): Expectation {
  if ('rows' in outcome) return { rows: outcome.rows };
  const { code, errors } = outcome.error;
  const [first] = errors;
  return { error: { code, ...(first !== undefined && { parameter: first.parameter }) } };
}

// Time and memory of comparing grow with the product of the differing lines.
const LINES_MAX = 500;

/** Returns the lines in which an answer differs from the expectation of a case, as YAML: `-` expected, `+` returned. */
function diffLines(expected: Expectation, outcome: Outcome): string[] {
  const [before, after] = [toLines(expected), toLines(expectationOf(outcome))];
  let same = 0;
  while (same < before.length && before[same] === after[same]) same++;
  const cut = (lines: readonly string[]) => lines.slice(same, same + LINES_MAX);
  const lines = diff(cut(before), cut(after)).flatMap(([change, line]) =>
    change === 0 ? [] : [`${change === 1 ? '-' : '+'} ${line}`],
  );
  const more = Math.max(before.length, after.length) - same - LINES_MAX;
  return more > 0 ? [...lines, `… and ${more} more lines`] : lines;
}

const ROW_CHARS_MAX = 110;

/** Writes rows as in a test file, a line for each short row. */
function toLines({ rows, error }: Expectation): string[] {
  if (error !== undefined) return [`error: ${toFlow(error)}`];
  if (rows === undefined) return [];
  if (rows.length === 0) return ['rows: []'];
  return ['rows:', ...rows.flatMap((row) => `- ${toFlow(row)}`.split('\n').map((line) => `  ${line}`))];
}

function toFlow(value: object): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: ROW_CHARS_MAX }).trimEnd();
}
