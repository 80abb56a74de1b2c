import { createEvaluate } from '../../alerts/evaluate.ts';
import { replay } from '../../alerts/replay.ts';
import { CURSOR_PARAMETER } from '../../definitions/pages.ts';
import type { Registry } from '../../definitions/registry.ts';
import type { Engine } from '../../engine/engine.ts';
import { truncateTable } from '../../engine/table.ts';
import { TailraceError } from '../../errors.ts';
import { mergeParameters } from '../../http/routes/query.ts';
import { createEventWriter } from '../../ingest/writer.ts';
import { parseExactJson } from '../../lib/json/exact.ts';
import { createCursors } from '../../query/cursor.ts';
import type { RawParameters } from '../../query/parameters.ts';
import { parsePinnedParameters } from '../../query/pins.ts';
import { bindPosition } from '../../query/position.ts';
import { createQuestion } from '../../query/question.ts';
import { createRunner } from '../../query/run.ts';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { isExpected, type Outcome } from './expectation.ts';
import type { Row, TestCase } from './test-case.ts';
import type { TestEvents } from './test-events.ts';
import type { TestFile } from './test-file.ts';

export interface CaseResult {
  readonly test: TestFile;
  readonly case: TestCase;
  readonly outcome: Outcome;
  readonly isPassed: boolean;
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
    for (const [source, own] of events) {
      const writer = createEventWriter(engine, source);
      for (const event of own) await writer.add(event);
      await writer.flush();
    }
    const ask = createAsk(test, on);
    const results: CaseResult[] = [];
    for (const one of test.cases) {
      const outcome = await ask(one);
      results.push({ test, case: one, outcome, isPassed: isExpected(one, outcome) });
    }
    return results;
  } finally {
    for (const source of events.keys()) await engine.command(truncateTable(source, engine.cluster));
  }
}

/** The end of the last request: the cursor of its next page, as in its Link, or an error. */
type Ended = { readonly cursor?: string } | { readonly error: TailraceError };

/** Runs a request as a POST does: parameters, pins, the page, the SELECT of a caller, the instant. */
function createAsk({ endpoint }: TestFile, { engine, registry, signal }: TestEngine) {
  let nowMs: number | undefined;
  let ended: Ended = {};
  const cursors = createCursors(new Uint8Array(32)); // they never leave this process
  const sandbox = createSandbox(engine, { now: () => nowMs ?? 0 });
  const run = createRunner(engine, () => nowMs ?? 0);

  async function ask({ pins, parameters }: TestCase, page: RawParameters): Promise<Outcome> {
    const raw = mergeParameters(page, parameters, endpoint.parameters);
    const first = parsePinnedParameters(endpoint, raw, { pins });
    const values = { ...first, ...bindPosition(endpoint.pages, cursors.read(endpoint, first, raw)) };
    const asked = await sandbox(endpoint, raw, { signal });
    const { body, last } = await run(createQuestion(asked, values), { signal });
    ended = last === undefined ? {} : { cursor: cursors.createWriter(endpoint, values)(last) };
    return { rows: parseRows(body) };
  }

  const evaluate = createEvaluate({ registry, run });

  async function askAlert(name: string): Promise<Outcome> {
    const options = { evaluate, signal: signal ?? new AbortController().signal };
    const { firing, lastError } = await replay(registry.getAlert(name), { untilMs: nowMs ?? 0 }, options);
    if (lastError !== undefined) throw new TailraceError('query_failed', lastError);
    return { rows: firing.map(({ labels }) => labels) };
  }

  async function askNext(one: TestCase): Promise<Outcome> {
    if ('error' in ended) return ended;
    const { cursor } = ended;
    // Without a Link there is no further page.
    return cursor === undefined ? { rows: [] } : await ask(one, { [CURSOR_PARAMETER]: cursor });
  }

  return async (one: TestCase): Promise<Outcome> => {
    nowMs = one.nowMs;
    try {
      if (one.alert !== undefined) return await askAlert(one.alert);
      return await (one.isNext ? askNext(one) : ask(one, {}));
    } catch (error) {
      if (!(error instanceof TailraceError) || error.code === 'engine_unavailable') throw error;
      ended = { error };
      return ended;
    }
  };
}

/** Parses the rows of `{"result":[…]}`, with integers beyond 2^53 as BigInts. */
function parseRows(body: Buffer): readonly Row[] {
  return (parseExactJson(body.toString()) as { result: Row[] }).result; // written by query/format.ts
}
