import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyFewDefinitions } from '../../support/definitions.ts';
import { edgeEvents, toNdjson } from '../../support/events.ts';
import { EDGE } from '../../support/ingest.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
const at = (name: string) => join(folder.path, name);
const definitions = await copyFewDefinitions(folder.path);
const envOf = (name: string) => ({ ...definitions, TAILRACE_DATA_DIR: at(name) });
const backup = (from: string, ...args: string[]) => runProgram(['backup', ...args], envOf(from));
const restore = (dir: string, to: string) => runProgram(['restore', dir], envOf(to));

/** What a data directory returns for the events, and its keys. */
async function readAll(name: string): Promise<string[]> {
  const sql = ['query', 'usage.api-counts', '-p', 'project=^https://p1', '-p', 'interval=minutely'];
  const all = [await runProgram(sql, envOf(name)), await runProgram(['keys', 'list', '--json'], envOf(name))];
  for (const one of all) expect(one).toMatchObject({ code: 0, stderr: '' });
  return all.map(({ stdout }) => stdout);
}

/** The folder of the first part of a table. */
async function firstPart(dir: string): Promise<string> {
  const names = await readdir(join(dir, 'events'), { recursive: true });
  return join(dir, 'events', names.find((name) => /^[^/]+\/[^/]+$/.test(name)) ?? '');
}

beforeAll(async () => {
  const events = toNdjson(edgeEvents(300));
  expect(await runProgram(['load', EDGE, '-'], envOf('stored'), { stdin: events })).toMatchObject({
    code: 0,
  });
  expect(await runProgram(['keys', 'create', '--name', 'reader'], envOf('stored'))).toMatchObject({
    code: 0,
  });
  expect(await backup('stored', at('saved'))).toMatchObject({ code: 0 });
});

test('a restored backup has every event and every key, and can be written to and backed up again', async () => {
  const restored = await restore(at('saved'), 'restored');
  expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining('equals the backup')]);
  const all = await readAll('restored');
  expect(all).toEqual(await readAll('stored'));
  expect(all[1]).toContain('reader');
  expect((JSON.parse(all[0] ?? '') as { result: unknown[] }).result.length).toBeGreaterThan(4);

  const late = toNdjson([{ ...edgeEvents(1)[0], id: 'late' }]);
  expect(await runProgram(['load', EDGE, '-'], envOf('restored'), { stdin: late })).toMatchObject({
    code: 0,
  });
  const second = await backup('restored', at('second'), '--base', at('saved'));
  expect([second.code, second.stdout]).toEqual([
    0,
    expect.stringMatching(/301 events \(\d.* copied, \d.* linked\)/),
  ]);
  expect(await restore(at('second'), 'again')).toMatchObject({ code: 0 });
  expect(await readAll('again')).toEqual(await readAll('restored'));
});

describe('what will not do is rejected, and nothing is changed', () => {
  test('as the target of a backup', async () => {
    await mkdir(at('full'));
    await writeFile(join(at('full'), 'mine'), '');
    const rejected = async (...args: string[]) => (await backup('stored', ...args)).stderr;
    expect(await rejected(at('full'))).toContain('not empty');
    expect(await rejected(join(at('stored'), 'b'))).toContain('lies in the data directory');
    expect(await rejected(at('new'), '--base', at('full'))).toContain('has no manifest.json');
    expect([existsSync(join(at('stored'), 'b')), existsSync(at('new'))]).toEqual([false, false]);
  });

  test('as the data directory of a restore', async () => {
    const { code, stderr } = await restore(at('saved'), 'stored');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/is not empty \(.*set TAILRACE_DATA_DIR to an empty folder/),
    ]);
  });

  test.each<[string, (dir: string) => Promise<void>, RegExp]>([
    ['unfinished', (dir) => rm(join(dir, 'manifest.json')), /an unfinished one/],
    [
      'edited',
      async (dir) => {
        const file = join(dir, 'manifest.json');
        await writeFile(file, (await readFile(file, 'utf8')).replace('"rows": ', '"rows": 1'));
      },
      /manifest\.json is damaged/,
    ],
    [
      'damaged',
      async (dir) => {
        const file = join(await firstPart(dir), 'data.bin');
        const bytes = await readFile(file);
        bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
        await writeFile(file, bytes);
      },
      /is damaged: .*events.* differs from its checksum in the manifest/,
    ],
    ['torn', async (dir) => rm(await firstPart(dir), { recursive: true }), /is incomplete/],
  ])('as a backup that is %s', async (name, spoil, message) => {
    await cp(at('saved'), at(name), { recursive: true });
    await spoil(at(name));
    const { code, stderr } = await restore(at(name), `${name}-data`);
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    const left = await readdir(at(`${name}-data`)).catch(() => []);
    expect(left.filter((one) => !/^(lock\.sqlite.*|owner\.txt)$/.test(one))).toEqual([]);
  });
});
