import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findFreePort } from '../../../trial/free-port.ts';
import { writeDefinitions } from '../../sandbox/support.ts';
import { runProgram } from '../../support/program.ts';
import {
  PRIVATE_KEY,
  PUBLIC_KEY,
  startTestService,
  storeEvents,
  temporaryFolder,
} from '../../support/service.ts';

const folder = await temporaryFolder();
const definitions = await writeDefinitions();
const service = await startTestService({ env: definitions.env });
afterAll(async () => {
  await service.close();
  await definitions.remove();
  await folder.remove();
});
const { url, core, clock, config } = service;
const P1 = ['-p', 'project=p1'];
const KEY = { TAILRACE_KEY: PRIVATE_KEY };

const events = [1, 2, 3].map((id) => ({ id: `e${id}`, project: 'p1', metadata: { status: 500 + id } }));
await storeEvents(core, 'app.logs', events, clock.now);

describe('tailrace query', () => {
  const env = { ...definitions.env, TAILRACE_DATA_DIR: join(folder.path, 'data') };
  const query = (...args: string[]) => runProgram(['query', ...args], env);

  test.each([
    [['--format', 'csv'], '"n"\r\n0\r\n'],
    [['-p', 'format=ndjson'], '{"n":0}\n'],
    [['--format', 'json'], '{"result":[{"n":0}]}\n'],
    [['--table'], '┌───┐\n│ n │\n├───┤\n│ 0 │\n└───┘\n1 row\n'],
  ])('%j prints the answer in that form', async (args, expected) => {
    expect(await query('sandbox.off', ...P1, ...args)).toEqual({ code: 0, stdout: expected, stderr: '' });
  });

  test.each([
    [[...P1, '--format', 'xml'], 2, /json, ndjson, csv, arrow, parquet, prometheus/],
    [[...P1, '--format', 'csv', '--table'], 2, /--table.*--format/],
    [[...P1, '-p', 'format=csv', '--table'], 1, /--table needs an answer in JSON, not in csv/],
    [
      [...P1, '--sql', 'SELECT 1'],
      1,
      /--sql needs an endpoint with query_sandboxing: true, which sandbox.off does not have/,
    ],
    [
      ['-p', 'projct=a'],
      1,
      /^tailrace: parameter "projct" of sandbox\.off is not known; did you mean project\?/,
    ],
    [[...P1, '--follow'], 1, /--follow needs --url: only a running service has live tails/],
  ])('%j is rejected', async (args, exit, message) => {
    const { code, stdout, stderr } = await query('sandbox.off', ...args);
    expect([code, stdout, stderr]).toEqual([exit, '', expect.stringMatching(message)]);
  });

  test('runs a SELECT of its own on an endpoint with sandboxing', async () => {
    const { code, stdout } = await query('sandbox.on', ...P1, '--sql', 'SELECT @project AS p');
    expect([code, stdout]).toEqual([0, '{"result":[{"p":"p1"}]}\n']);
  });
});

describe('tailrace query --url', () => {
  const query = (args: string[], env: Record<string, string> = KEY, to = url) =>
    runProgram(['query', ...args, '--url', to], env);

  test('asks the service that owns the store, which cannot be opened beside it', async () => {
    const local = await runProgram(['query', 'sandbox.off', ...P1], {
      ...{ ...definitions.env, TAILRACE_DATA_DIR: config.dataDir },
    });
    expect([local.code, local.stderr]).toEqual([
      1,
      expect.stringContaining('send the command to it with --url'),
    ]);
    const { id } = core.registry.getEndpoint('sandbox.off');
    for (const name of ['sandbox.off', id.toUpperCase()])
      expect(await query([name, ...P1])).toEqual({ code: 0, stdout: '{"result":[{"n":3}]}\n', stderr: '' });
  });

  test('rejects a parameter that the service has ignored', async () => {
    const { code, stdout, stderr } = await query(['sandbox.off', ...P1, '-p', 'projct=p2', '-p', 'a b=1']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('parameter "projct" of sandbox.off is not known; did you mean project?');
    expect(stderr).toContain('parameter "a b" of sandbox.off is not known');
  });

  test('prints a table of a SELECT of its own, which a sandboxed endpoint runs, and no other', async () => {
    const sql = ['--sql', 'SELECT id, status FROM app ORDER BY id LIMIT 1'];
    expect((await query(['sandbox.on', ...P1, '--table', ...sql])).stdout).toMatch(
      /│ id │ status │[\s\S]*│ e1 │ 501 {4}│/,
    );
    const { code, stderr } = await query(['sandbox.off', ...P1, ...sql]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('which sandbox.off does not have')]);
  });

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ['no key', P1, {}, /--url needs a key: give --key or set TAILRACE_KEY\n$/],
    ['an unknown key', P1, { TAILRACE_KEY: 'nobody' }, /the key is/],
    ['a key without the scope', [...P1, '--key', PUBLIC_KEY], {}, /scope/],
    ['a parameter sent twice', [...P1, ...P1], KEY, /project was sent 2 times/],
    ['an endpoint without live tail', [...P1, '--follow'], KEY, /has no live tail/],
  ])('with %s says so in one line', async (_, args, env, message) => {
    const { code, stdout, stderr } = await query(['sandbox.off', ...args], env);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(message)]);
    expect(stderr).toMatch(/^tailrace: [^\n]*\n$/);
  });

  test('says that nobody answers, that it is another service, and that an address is none', async () => {
    const away = await query(['sandbox.off'], KEY, `http://127.0.0.1:${await findFreePort()}`);
    expect([away.code, away.stderr]).toEqual([3, expect.stringMatching(/cannot be reached: .*ECONNREFUSED/)]);
    const other = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await query(['sandbox.off'], KEY, `http://127.0.0.1:${port}`);
    other.close();
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('is not a Tailrace service: it responded with 200 OK'),
    ]);
    expect((await query(['sandbox.off'], KEY, 'localhost:4000')).code).toBe(2);
  });
});
