import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { afterAll, describe, expect, test } from 'vitest';
import { get } from '../support/http.ts';
import { PRIVATE_KEY, startTestService, storeEvents } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
const event = {
  project: 'aurora',
  event_message: 'GET /rest/v1/orders 503',
  metadata: { request: { path: '/rest/v1/orders' }, response: { status_code: 503 } },
};
await storeEvents(service.core, 'cloudflare.logs.prod', [event, event], service.clock.now);

const page = await readFile(join(import.meta.dirname, '../../docs/clients.md'), 'utf8');
const [, PAGE = ''] = /^```ts\n([\s\S]*?)```$/m.exec(page) ?? [];

const [, COMMAND = ''] = /`npx tsc (.*?) client\.ts`/.exec(page) ?? [];

// What is replaced in the program of the page and by what, and the code of the first error.
const FAULTS: readonly (readonly [string, string, string, number])[] = [
  ['a misspelt endpoint', 'usage.api-counts', 'usage.api-count', 2339],
  ['a missing parameter', "project: 'aurora', ", '', 2741],
  ['a value that an enum does not have', "'daily'", "'yearly'", 2322],
  ['a column that the endpoint does not have', 'row.total_rest_requests', 'row.total_rest', 2339],
  ['a column that may be null', 'row.total_rest_requests ?? 0', '-row.total_rest_requests', 18047],
];

const nameOf = (index: number) => join(import.meta.dirname, `program-${index}.ts`);
const programs = [PAGE, ...FAULTS.map(([, right, wrong]) => PAGE.replace(right, wrong))];
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
  test('compiles as docs/clients.md has it', () => expect(diagnostics[0]).toEqual([]));

  test.each(FAULTS.map((fault, index) => [...fault, diagnostics[index + 1] ?? []] as const))(
    'does not compile with %s',
    (_, right, _wrong, code, errors) => {
      expect(PAGE).toContain(right);
      expect(errors[0]).toBe(code); // others may follow from it
    },
  );

  test('gets what its types say', async () => {
    const program = PAGE.replace('http://127.0.0.1:4000', service.url);
    const args = ['--input-type=module-typescript', '-e', program];
    const env = { PATH: process.env['PATH'], TAILRACE_KEY: PRIVATE_KEY };
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, env });
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^\d{4}-\d\d-\d\dT00:00:00 2$/);
  });
});
