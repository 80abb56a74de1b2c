import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { get } from '../support/http.ts';
import { ownService, PRIVATE_KEY, storeEvents } from '../support/service.ts';

const service = await ownService();
const event = {
  project: 'aurora',
  event_message: 'GET /rest/v1/orders 503',
  metadata: { request: { path: '/rest/v1/orders' }, response: { status_code: 503 } },
};
await storeEvents(service.core, 'cloudflare.logs.prod', [event, event], service.clock.now);

const page = await readFile(join(import.meta.dirname, '../../docs/clients.md'), 'utf8');
const [, PAGE = ''] = /^```ts\n([\s\S]*?)```$/m.exec(page) ?? [];

const [, COMMAND = ''] = /`npx tsc (.*?) client\.ts`/.exec(page) ?? [];

async function generateTypes(): Promise<string> {
  const { text } = await get(service.url, '/openapi.json');
  return astToString(await openapiTS(JSON.parse(text) as OpenAPI3));
}

/** The codes of the errors of the program, which imports the generated types; both exist only in memory. */
function compile(types: string): number[] {
  const options: ts.CompilerOptions = {
    ...ts.parseCommandLine(COMMAND.split(' ')).options,
    noUncheckedIndexedAccess: true, // as `tsc --init` sets it
    skipLibCheck: true,
  };
  const path = join(import.meta.dirname, 'program.ts');
  const files = new Map([
    [path, PAGE],
    [join(import.meta.dirname, 'tailrace.ts'), types],
  ]);
  const host = ts.createCompilerHost(options);
  host.fileExists = (name) => files.has(name) || ts.sys.fileExists(name);
  host.readFile = (name) => files.get(name) ?? ts.sys.readFile(name);
  const program = ts.createProgram([...files.keys()], options, host);
  return ts.getPreEmitDiagnostics(program, program.getSourceFile(path)).map(({ code }) => code);
}

describe('a client of TypeScript, generated from /openapi.json', () => {
  test('compiles as docs/clients.md has it', async () => expect(compile(await generateTypes())).toEqual([]));

  test('gets what its types say', async () => {
    const program = PAGE.replace('http://127.0.0.1:4000', service.url);
    const args = ['--input-type=module-typescript', '-e', program];
    const env = { PATH: process.env['PATH'], TAILRACE_KEY: PRIVATE_KEY };
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, env });
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^\d{4}-\d\d-\d\dT00:00:00 2$/);
  });
});
