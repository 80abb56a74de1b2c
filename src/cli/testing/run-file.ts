import type { Config } from '../../config/config.ts';
import type { Registry } from '../../definitions/registry.ts';
import { isManaged } from '../../definitions/source.ts';
import type { Engine } from '../../engine/engine.ts';
import { truncateTable } from '../../engine/table.ts';
import { TailraceError } from '../../errors.ts';
import { mergeParameters } from '../../http/routes/query.ts';
import { createEventWriter } from '../../ingest/writer.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import { hideOlder } from '../../open-clock.ts';
import { parseParameters } from '../../query/parameters.ts';
import { createQuestion } from '../../query/question.ts';
import { createRunner } from '../../query/run.ts';
import { createSandbox } from '../../query/sandbox/sandbox.ts';
import { isExpected, type Outcome } from './expectation.ts';
import type { TestEvents } from './test-events.ts';
import type { Row, TestCase, TestFile } from './test-file.ts';

export interface CaseResult {
  readonly test: TestFile;
  readonly case: TestCase;
  readonly outcome: Outcome;
  readonly isPassed: boolean;
  readonly elapsedMs: number;
}

export interface TestEngine {
  readonly engine: Engine;
  readonly registry: Registry;
  readonly config: Pick<Config, 'parameterBytesMax' | 'sandboxSqlBytesMax'>;
  /** Aborting stops the running query and throws the signal's reason. */
  readonly signal: AbortSignal | undefined;
}

/** Runs the cases of one file on its events alone. */
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
      const startMs = performance.now();
      const outcome = await ask(one);
      const elapsedMs = performance.now() - startMs;
      results.push({ test, case: one, outcome, isPassed: isExpected(one, outcome), elapsedMs });
    }
    return results;
  } finally {
    for (const source of events.keys()) await engine.command(truncateTable(source, engine.cluster));
  }
}

/** Asks as a POST does: parameters, the SELECT of a caller, the instant, and what retention hides then. */
function createAsk({ endpoint }: TestFile, { engine, registry, config, signal }: TestEngine) {
  let nowMs: number | undefined;
  const sandbox = createSandbox(engine, { ...config, now: () => nowMs ?? 0 });
  const run = createRunner(engine, () => nowMs ?? 0);
  return async (one: TestCase): Promise<Outcome> => {
    if (one.nowMs !== nowMs) await hideOlder(engine, registry.sources.filter(isManaged), one.nowMs);
    nowMs = one.nowMs;
    try {
      const raw = mergeParameters({}, one.parameters, endpoint.parameters);
      const values = parseParameters(endpoint, raw, config.parameterBytesMax);
      const asked = await sandbox(endpoint, raw, { signal });
      const { body } = await run(createQuestion(asked, values), { signal });
      return { rows: parseRows(body) };
    } catch (error) {
      if (error instanceof TailraceError && error.code !== 'engine_unavailable') return { error };
      throw error;
    }
  };
}

/** The rows of `{"result":[…]}`, with integers beyond 2^53 as BigInts. */
function parseRows(body: Buffer): readonly Row[] {
  return (parseExactJson(body.toString()) as { result: Row[] }).result; // written by query/format.ts
}
