import { createServer } from 'node:http';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { findFreePort } from '../../trial/free-port.ts';
import { writeDefinitions } from '../sandbox/support.ts';
import { endLeftProcesses, runCli } from '../support/cli.ts';
import { ON_SERVER } from '../support/cli-engine.ts';
import { PRIVATE_KEY, PUBLIC_KEY, startTestService, storeEvents } from '../support/service.ts';

const definitions = await writeDefinitions();
const service = await startTestService({ env: definitions.env });
afterAll(async () => {
  await service.close();
  await definitions.remove();
});
afterEach(endLeftProcesses);
const { url, core, clock, config } = service;
const KEY = { TAILRACE_KEY: PRIVATE_KEY };
const query = (args: string[], env: Record<string, string> = KEY, to = url) =>
  runCli(['query', ...args, '--url', to], { env });
const P1 = ['-p', 'project=p1'];

const events = [1, 2, 3].map((id) => ({ id: `e${id}`, project: 'p1', metadata: { status: 500 + id } }));
await storeEvents(core, 'app.logs', events, clock.now);

describe('query --url', () => {
  test('asks the service that owns the store, where the store itself cannot be opened', async () => {
    if (!ON_SERVER) {
      const env = { ...definitions.env, TAILRACE_DATA_DIR: config.dataDir };
      const local = await runCli(['query', 'sandbox.off', ...P1], { env });
      expect([local.code, local.stderr]).toEqual([
        1,
        expect.stringContaining('send the command to it with --url (load, query)'),
      ]);
    }
    const { id } = core.registry.getEndpoint('sandbox.off');
    for (const name of ['sandbox.off', id.toUpperCase()]) {
      const { code, stdout, stderr } = await query([name, ...P1], KEY, `${url}/`);
      expect([code, stdout, stderr]).toEqual([0, '{"result":[{"n":3}]}\n', '']);
    }
  });

  test('refuses a parameter that the service has ignored', async () => {
    const { code, stdout, stderr } = await query(['sandbox.off', ...P1, '-p', 'projct=p2', '-p', 'a b=1']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('parameter "projct" of sandbox.off is not known; did you mean project?');
    expect(stderr).toContain('parameter "a b" of sandbox.off is not known');
    const missing = await query(['sandbox.off', '-p', 'projct=p2']);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      `tailrace: ${url}: project is required; parameter "projct" is not known\n`,
    ]);
  });

  test('prints a table, whose columns are there without rows, too', async () => {
    const { stdout } = await query(['sandbox.off', ...P1, '--table']);
    expect(stdout).toMatch(/│ n │[\s\S]*│ 3 │[\s\S]*\n1 row\n$/);
    const select = 'SELECT id, status FROM app ORDER BY id LIMIT 1';
    const own = await query(['sandbox.on', ...P1, '--table', '--sql', select]);
    expect(own.stdout).toMatch(/│ id │ status │[\s\S]*│ e1 │ 501 {4}│/);
  });

  test('prints an answer in the format that is asked for', async () => {
    for (const args of [
      ['--format', 'csv'],
      ['-p', 'format=csv'],
    ])
      expect(await query(['sandbox.off', ...P1, ...args])).toMatchObject({ code: 0, stdout: '"n"\r\n3\r\n' });
    const refused = await query(['sandbox.off', ...P1, '-p', 'format=xml']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('not "xml"')]);
  });

  test('sends a SELECT of its own to a sandboxed endpoint, and to no other', async () => {
    const sql = ['--sql', 'SELECT @project AS p'];
    expect((await query(['sandbox.on', ...P1, ...sql])).stdout).toBe('{"result":[{"p":"p1"}]}\n');
    const { code, stderr } = await query(['sandbox.off', ...P1, ...sql]);
    expect([code, stderr]).toEqual([
      1,
      'tailrace: --sql needs an endpoint with query_sandboxing: true, which sandbox.off does not have\n',
    ]);
  });

  test.each<[string, string[], Record<string, string>, number, RegExp]>([
    ['no key', P1, {}, 1, /--url needs a key: give --key or set TAILRACE_KEY\n$/],
    ['an unknown key', P1, { TAILRACE_KEY: 'nobody' }, 1, /the key is/],
    ['a key without the scope', [...P1, '--key', PUBLIC_KEY], {}, 1, /scope/],
    ['no project', [], KEY, 1, /project is required/],
    ['a parameter sent twice', [...P1, ...P1], KEY, 1, /project was sent 2 times/],
  ])('with %s says so in one line', async (_, args, env, exit, message) => {
    const { code, stdout, stderr } = await query(['sandbox.off', ...args], env);
    expect([code, stdout, stderr]).toEqual([exit, '', expect.stringMatching(message)]);
    expect(stderr).toMatch(/^tailrace: [^\n]*\n$/);
  });

  test('says that an endpoint is not there, that nobody answers, and that it is another service', async () => {
    expect(await query(['sandbox.of'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"sandbox.of"'),
    });
    const away = await query(['sandbox.off'], KEY, `http://127.0.0.1:${await findFreePort()}`);
    expect(away).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/cannot be reached: .*ECONNREFUSED/),
    });
    const other = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const { code, stderr } = await query(['sandbox.off'], KEY, `http://127.0.0.1:${port}`);
    other.close();
    expect([code, stderr]).toEqual([
      1,
      `tailrace: http://127.0.0.1:${port} is not a Tailrace service: it responded with 200 OK\n`,
    ]);
  });

  test('an address that is none is a misuse', async () => {
    expect((await query(['sandbox.off'], KEY, 'localhost:4000')).code).toBe(2);
  });
});
