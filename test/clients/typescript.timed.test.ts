import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { afterAll, describe, expect, test } from 'vitest';
import { get } from '../support/http.ts';
import { PRIVATE_KEY, startTestService, storeEvents, temporaryFolder } from '../support/service.ts';

const ENDPOINT_YAML = `id: 7dea32a0-fb99-4b83-9c42-c900fca9aeb6
name: typed.all
description: Parameters and columns of several types.
caching: disabled
query_sandboxing: true
parameters:
  project: { type: string, required: true, description: A project. }
  level: { type: enum, values: [info, error], default: info, description: A level. }
  status: { type: integer, description: A status. }
  statuses: { type: list, of: integer, description: Statuses. }
columns:
  path: { type: string, description: Text. }
  status: { type: integer, description: Whole. }
  failed: { type: boolean, description: True or false. }
  metadata: { type: json, description: JSON. }
`;
const ENDPOINT_SQL = `SELECT path, ifNull(@status, status_code) AS status, toBool(status_code >= 500) AS failed, metadata
FROM edge_logs
WHERE project = @project AND @level != '' AND (empty(@statuses) OR status_code IN @statuses)
`;

const folder = await temporaryFolder();
const endpoints = join(folder.path, 'endpoints');
await cp('endpoints', endpoints, { recursive: true });
await mkdir(join(endpoints, 'typed.all'));
await writeFile(join(endpoints, 'typed.all/endpoint.yaml'), ENDPOINT_YAML);
await writeFile(join(endpoints, 'typed.all/query.sql'), ENDPOINT_SQL);
const service = await startTestService({ env: { TAILRACE_ENDPOINTS_DIR: endpoints } });
afterAll(async () => {
  await service.close();
  await folder.remove();
});
const event = {
  project: 'aurora',
  event_message: 'GET /rest/v1/orders 503',
  metadata: { request: { path: '/rest/v1/orders' }, response: { status_code: 503 } },
};
await storeEvents(service.core, 'cloudflare.logs.prod', [event, event], service.clock.now);

const page = await readFile(join(import.meta.dirname, '../../docs/clients.md'), 'utf8');
const [, PAGE = ''] = /^```ts\n([\s\S]*?)```$/m.exec(page) ?? [];

const [, COMMAND = ''] = /`npx tsc (.*?) client\.ts`/.exec(page) ?? [];

/** Every parameter and column of the endpoint above, by GET and POST. */
const TYPED = `import createClient from 'openapi-fetch';
import type { paths } from './tailrace.ts';

const client = createClient<paths, 'application/json'>({
  baseUrl: 'http://127.0.0.1:4000',
  headers: { 'X-API-KEY': process.env['TAILRACE_KEY'] },
});
const TYPED = '/api/endpoints/query/typed.all';
const query: paths[typeof TYPED]['get']['parameters']['query'] = {
  project: 'aurora',
  level: 'error',
  statuses: [500, 503],
};
const body: paths[typeof TYPED]['post']['requestBody']['content']['application/json'] = {
  project: 'aurora',
  status: 599,
  statuses: [503],
};
const answers = [
  await client.GET(TYPED, { params: { query } }),
  await client.POST(TYPED, { body }),
];
for (const { data, error } of answers) {
  if (error !== undefined) throw new Error(error.error.errors[0]?.message);
  for (const row of data.result) {
    const path: string | null = row.path;
    const status: number | null = row.status;
    const failed: boolean | null = row.failed;
    const metadata: unknown = row.metadata;
    console.log(JSON.stringify([path, status, failed, metadata]));
  }
}
`;

// A program that is right, what is replaced in it and by what, and the code of the first error.
const FAULTS: readonly (readonly [string, string, string, string, number])[] = [
  ['a misspelt endpoint', PAGE, 'usage.api-counts', 'usage.api-count', 2339],
  ['a missing parameter', PAGE, "project: 'aurora', ", '', 2741],
  ['a value that an enum does not have', PAGE, "'daily'", "'yearly'", 2322],
  ['a column that the endpoint does not have', PAGE, 'row.total_rest_requests', 'row.total_rest', 2339],
  ['a column that may be null', PAGE, 'row.total_rest_requests ?? 0', '-row.total_rest_requests', 18047],
  ['a text for an integer', TYPED, 'status: 599', "status: '599'", 2322],
  ['one value for a list', TYPED, 'statuses: [503]', 'statuses: 503', 2322],
  ['a member of a POST body that is not declared', TYPED, 'status: 599', 'stat: 599', 2353],
];

const nameOf = (index: number) => join(import.meta.dirname, `program-${index}.ts`);
const programs = [PAGE, TYPED, ...FAULTS.map(([, program, right, wrong]) => program.replace(right, wrong))];
const diagnostics = compile(await generateTypes(), programs);

async function generateTypes(): Promise<string> {
  const { text } = await get(service.url, '/openapi.json');
  return astToString(await openapiTS(JSON.parse(text) as OpenAPI3));
}

/** For each program the codes of its errors. All of them import the generated types, which exist in memory only. */
function compile(types: string, texts: readonly string[]) {
  const options: ts.CompilerOptions = {
    ...ts.parseCommandLine(COMMAND.split(' ')).options,
    noUncheckedIndexedAccess: true, // as `tsc --init` sets it
    skipLibCheck: true,
  };
  const files = new Map(texts.map((text, index) => [nameOf(index), text]));
  files.set(join(import.meta.dirname, 'tailrace.ts'), types);
  const host = ts.createCompilerHost(options);
  host.fileExists = (path) => files.has(path) || ts.sys.fileExists(path);
  host.readFile = (path) => files.get(path) ?? ts.sys.readFile(path);
  const program = ts.createProgram([...files.keys()], options, host);
  return texts.map((_, index) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(nameOf(index))).map(({ code }) => code),
  );
}

describe('a client of TypeScript, generated from /openapi.json', () => {
  test('compiles as docs/clients.md has it, and with every type of parameter and column', () => {
    expect(diagnostics.slice(0, 2)).toEqual([[], []]);
  });

  test.each(FAULTS.map((fault, index) => [...fault, diagnostics[index + 2] ?? []] as const))(
    'does not compile with %s',
    (_, program, right, _wrong, code, errors) => {
      expect(program).toContain(right);
      expect(errors[0]).toBe(code); // others may follow from it
    },
  );

  test('gets what its types say', async () => {
    const run = async (program: string) => {
      const args = [
        '--input-type=module-typescript',
        '-e',
        program.replace('http://127.0.0.1:4000', service.url),
      ];
      const env = { PATH: process.env['PATH'], TAILRACE_KEY: PRIVATE_KEY };
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, env });
      return stdout.trimEnd().split('\n');
    };
    expect((await run(PAGE)).at(-1)).toMatch(/^\d{4}-\d\d-\d\dT00:00:00 2$/);
    const metadata = event.metadata;
    const row = ['/rest/v1/orders', 503, true, metadata];
    const own = ['/rest/v1/orders', 599, true, metadata];
    expect((await run(TYPED)).map((line) => JSON.parse(line))).toEqual([row, row, own, own]);
  });
});
