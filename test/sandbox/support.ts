import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { createQuestion } from '../../src/query/question.ts';
import { createRunner } from '../../src/query/run.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { openCore } from '../../src/service/open-core.ts';
import { ownFolder, storeEvents, testConfig, writeFiles } from '../support/service.ts';

/** Stands wherever a caller's SELECT must not reach: other projects, other tables, a file. */
export const CANARY = 'canary-7f3a';

const ENDPOINT = 'id: 5dea32a0-fb99-4b83-9c42-c900fca9aeb6\nname: sandbox.on';

export const YAML = `${ENDPOINT}
description: A test.
max_rows: 50
caching: 900
cache_warming: 300
query_sandboxing: true
parameters:
  project: { type: string, required: true, description: A project. }
  pattern: { type: regex, description: What messages must match. }
columns:
  n: { type: integer, description: A count. }
`;

export const SQL = `-- Views over the entries of one project.
WITH
  toDateTime64(@now, 6, 'UTC') AS instant,
  500 AS worst,
  app AS (
    -- SELECT ) " \` '
    SELECT id, timestamp, event_message, status, tags, [status, 1] AS numbers
    FROM app_logs
    WHERE project = @project AND match(event_message, @pattern)
  ),
  errors AS (SELECT * FROM app WHERE status >= worst)
SELECT count() AS n FROM app
`;

/** The same with views that have the names of tables; the second one answers no rows. */
export const NAMED_SQL = SQL.replace('  app AS (', '  app_logs AS (')
  .replace('FROM app\n', 'FROM app_logs\n')
  .replace(
    'errors AS (SELECT * FROM app WHERE',
    'secret_logs AS (SELECT * FROM secret_logs WHERE status < 0 AND',
  );

const source = (id: string, name: string, table: string) => `id: ${id}
name: ${name}
table: ${table}
description: A source.
project: project
columns:
  status: { type: integer, path: metadata.status, description: A status. }
  tags: { type: string, path: metadata.tags, description: Tags. }
`;

const FILES: Readonly<Record<string, string>> = {
  'endpoints/sandbox.on/endpoint.yaml': YAML,
  'endpoints/sandbox.on/query.sql': SQL,
  'endpoints/sandbox.off/endpoint.yaml': YAML.replace('5dea32a0', '6dea32a0')
    .replace('sandbox.on', 'sandbox.off')
    .replace('query_sandboxing: true', 'query_sandboxing: false'),
  'endpoints/sandbox.off/query.sql': SQL,
  'sources/app.logs.yaml': source('eca3fc05-a0a4-4270-92ac-ecfc72d28b68', 'app.logs', 'app_logs'),
  'sources/secret.logs.yaml': source('fca3fc05-a0a4-4270-92ac-ecfc72d28b68', 'secret.logs', 'secret_logs'),
};

/** A third endpoint, for tests of the sandbox itself. */
const NAMED_FILES: Readonly<Record<string, string>> = {
  'endpoints/sandbox.named/endpoint.yaml': YAML.replace('5dea32a0', 'b5ea32a0').replace('.on', '.named'),
  'endpoints/sandbox.named/query.sql': NAMED_SQL,
};

/** Definitions of endpoints alike, `sandbox.on`, `sandbox.off` and those of `more`, in a temporary folder. */
export async function writeDefinitions(more: Readonly<Record<string, string>> = {}) {
  const folder = await ownFolder();
  await writeFiles(folder.path, { ...FILES, ...more });
  const env = {
    TAILRACE_ENDPOINTS_DIR: join(folder.path, 'endpoints'),
    TAILRACE_SOURCES_DIR: join(folder.path, 'sources'),
  };
  return { ...folder, env };
}

/** Entries of project `p` that may be read, and canaries: entries of project `q`, and another table. */
export async function storeCanaries(core: Awaited<ReturnType<typeof openCore>>): Promise<void> {
  const now = Date.now();
  const event = (project: string, i: number, message: string) => ({
    id: `${project}${i}`,
    timestamp: new Date(now - i * 1000).toISOString(),
    project,
    event_message: message,
    metadata: { status: [200, 404, 503][i % 3], tags: `{"n":${i},"k":"v${i % 3}"}` },
  });
  const entries = Array.from({ length: 45 }, (_, i) => [
    ...(i < 30 ? [event('p', i, `GET /rest/${i}`)] : []),
    event('q', i, `${CANARY} ${i}`),
  ]).flat();
  await storeEvents(core, 'app.logs', entries, now);
  await storeEvents(core, 'secret.logs', [event('p', 0, CANARY)], now);
}

/** A store with these endpoints, and what a caller's SELECT over one of them answers for project `p`. */
export async function openSandbox(env: Readonly<Record<string, string>> = {}, name = 'sandbox.on') {
  const definitions = await writeDefinitions(NAMED_FILES);
  const settings = { ...definitions.env, TAILRACE_QUERY_TIMEOUT_MS: '10000', ...env };
  const bounds = { queryMemoryBytesMax: 128 * 1024 * 1024 };
  const config = { ...testConfig(join(definitions.path, 'data'), settings), ...bounds };
  const canaryFile = join(definitions.path, 'canary.txt');
  await writeFile(canaryFile, CANARY);
  const core = await openCore(config, 'a test');
  afterAll(core.close);
  await storeCanaries(core);
  const sandbox = createSandbox(core.engine);
  const run = createRunner(core.engine, Date.now);
  const stored = core.registry.getEndpoint(name);

  const check = (sql: string) => sandbox(stored, { sql });
  async function ask(sql: string, parameters: Readonly<Record<string, string>> = {}) {
    const values = parseParameters(stored, { project: 'p', ...parameters }, 65_536);
    const { body } = await run(createQuestion(await check(sql), values));
    return (JSON.parse(body.toString()) as { result: Record<string, unknown>[] }).result;
  }
  /** The rows, or the error of a text that is rejected, before it runs or by the engine. */
  const tryAsk = (sql: string) =>
    ask(sql).catch((error: unknown) => {
      if (error instanceof TailraceError) return error;
      throw error;
    });
  return { core, stored, check, ask, tryAsk, canaryFile };
}
