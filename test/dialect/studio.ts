import { parseParameters } from '../../src/query/parameters.ts';
import { createQuestion } from '../../src/query/question.ts';
import { createRunner } from '../../src/query/run.ts';
import { UNTYPED_MESSAGE } from '../../src/sandbox/base.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';

export type AnswerRow = Readonly<Record<string, unknown>>;

interface Reply {
  readonly status: number;
  readonly rows: AnswerRow[];
  /** Of a query that is rejected. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** A service with Studio's endpoints, and its answers to SELECTs in BigQuery's SQL. @param now ms */
export async function openStudio(now: number) {
  const { core, url, close } = await startTestService({ now, env: { TAILRACE_STUDIO: '1' } });
  const { engine } = core;
  const executed: string[] = [];
  const query = engine.query.bind(engine);
  engine.query = (sql, values, options) => {
    if (typeof sql === 'string' && !/^(?:EXPLAIN|SELECT formatQuery)/.test(sql)) executed.push(sql);
    return query(sql, values, options);
  };

  async function ask(sql: string, project: string): Promise<Reply> {
    // As Studio sends it, with empty parameters.
    const sent = { project, sql, iso_timestamp_start: '', iso_timestamp_end: '' };
    const response = await fetch(`${url}/api/endpoints/query/logs.all?${new URLSearchParams(sent)}`, {
      headers: { 'x-api-key': PRIVATE_KEY },
    });
    const body = parseExact(await response.text()) as { result?: AnswerRow[]; error?: Reply['error'] }; // the service's answer
    return { status: response.status, rows: body.result ?? [], error: body.error };
  }

  const endpoint = core.registry.getEndpoint('logs.all');
  const sandbox = createSandbox(engine, { now: () => now });
  const run = createRunner(engine, () => now);

  /** What the typed columns answer to a SELECT; `undefined` if it has no such form, or if an event has more to it. */
  async function askTyped(sql: string, project: string): Promise<AnswerRow[] | undefined> {
    const { typedFirst } = await sandbox(endpoint, { project, sql });
    if (typedFirst === undefined) return undefined;
    const question = createQuestion(typedFirst, parseParameters(endpoint, { project }, 65_536));
    try {
      const { body } = await run(question);
      return (parseExact(body.toString()) as { result: AnswerRow[] }).result; // the runner's answer
    } catch (error) {
      if (error instanceof Error && error.message.includes(UNTYPED_MESSAGE)) return undefined;
      throw error;
    }
  }

  /** What the whole events answer to a SELECT. */
  async function askWhole(sql: string, project: string): Promise<AnswerRow[]> {
    const { typedFirst: _, ...whole } = await sandbox(endpoint, { project, sql });
    const { body } = await run(createQuestion(whole, parseParameters(endpoint, { project }, 65_536)));
    return (parseExact(body.toString()) as { result: AnswerRow[] }).result; // the runner's answer
  }

  /** `executed` has the statements that the engine was sent to run, without those that only parse a text. */
  return { core, ask, askTyped, askWhole, executed, close };
}

/** JSON with whole numbers beyond 2^53 as bigint. */
export function parseExact(text: string): unknown {
  const revive = (_: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? BigInt(context?.source ?? value)
      : value;
  return JSON.parse(text, revive);
}
