import { afterAll, describe, expect, test } from 'vitest';
import { announceService } from '../../../src/cli/local-service.ts';
import { writeDefinitions } from '../../sandbox/support.ts';
import { expectExit } from '../../support/cli.ts';
import { runProgram } from '../../support/program.ts';
import { ownService, PRIVATE_KEY, PUBLIC_KEY, storeEvents } from '../../support/service.ts';

const definitions = await writeDefinitions();
const service = await ownService({ env: definitions.env, owner: 'tailrace serve (a test)' });
const end = announceService(service.config.dataDir, { url: service.url, key: PRIVATE_KEY });
afterAll(end);
const { core, clock, config } = service;
const P1 = ['-p', 'project=p1'];

const events = [1, 2, 3].map((id) => ({ id: `e${id}`, project: 'p1', metadata: { status: 500 + id } }));
await storeEvents(core, 'app.logs', events, clock.now);

describe('tailrace query', () => {
  const env = { ...definitions.env, TAILRACE_DATA_DIR: config.dataDir };
  const query = (args: string[]) => runProgram(['query', ...args], env);

  test('asks the service, by name or UUID', async () => {
    const { id } = core.registry.getEndpoint('sandbox.off');
    for (const name of ['sandbox.off', id.toUpperCase()])
      expect(await query([name, ...P1])).toEqual({ code: 0, stdout: '{"result":[{"n":3}]}\n', stderr: '' });
  });

  test.each([
    [['--format', 'csv'], '"n"\r\n3\r\n'],
    [['--format', 'json'], '{"result":[{"n":3}]}\n'],
    [['--table'], 'n\n3\n1 row\n'],
    [['--sql', 'SELECT @project AS p', '--table'], 'p\np1\n1 row\n'],
  ])('%j prints the answer in that form', async (args, stdout) => {
    const name = args.includes('--sql') ? 'sandbox.on' : 'sandbox.off';
    expect(await query([name, ...P1, ...args])).toEqual({ code: 0, stdout, stderr: '' });
  });

  test.each<[string, string[], string]>([
    ['a key without the scope', [...P1, '--key', PUBLIC_KEY], 'scope'],
    ['a parameter that the service ignores', [...P1, '-p', 'projct=a'], 'did you mean project?'],
    [
      'an ignored SELECT',
      [...P1, '--sql', 'SELECT 1'],
      '--sql needs an endpoint with query_sandboxing: true',
    ],
  ])('with %s says so in one line', async (_, args, message) => {
    const failed = await query(['sandbox.off', ...args]);
    expect(failed).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
    expect(failed.stderr).toMatch(/^tailrace: [^\n]*\n$/);
  });

  test('with an unknown format names those that there are', async () => {
    expectExit(
      await query(['sandbox.off', ...P1, '--format', 'xml']),
      2,
      'json, ndjson, csv, arrow, parquet, prometheus',
    );
  });
});
