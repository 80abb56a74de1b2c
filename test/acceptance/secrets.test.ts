import { readFileSync } from 'node:fs';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endLeftProcesses, runCli, startServe } from '../support/cli.ts';
import { get, QUERY_PATH, request } from '../support/http.ts';
import { ownFolder, PRIVATE_KEY, PUBLIC_KEY } from '../support/service.ts';

const folder = await ownFolder();
const dataDir = join(folder.path, 'data');
const env = {
  TAILRACE_DATA_DIR: dataDir,
  TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
  TAILRACE_PUBLIC_KEY: PUBLIC_KEY,
};
afterEach(endLeftProcesses);

const WRONG = ['wrong-key-0123456789', `tr_0123456789ab_${'w'.repeat(43)}`];

/** Sends a key in every place that takes one, to every path; the texts of all answers. */
async function sendEverywhere(url: string, key: string): Promise<string[]> {
  const texts: string[] = [];
  for (const path of [
    `${QUERY_PATH}/logs.all`,
    `${QUERY_PATH}/none`,
    '/metrics',
    '/api/logs',
    '/v1/logs',
    '/nothing',
  ]) {
    for (const method of ['GET', 'POST', 'PROPFIND']) {
      for (const headers of [{ 'x-api-key': key }, { 'x-api-key': '', authorization: `Bearer ${key}` }]) {
        texts.push((await request(url, `${path}?api_key=${key}`, { method, headers })).text);
      }
      texts.push(
        (await request(url, `${path}?api_key=${key}`, { method, headers: { 'x-api-key': '' } })).text,
      );
    }
  }
  return texts;
}

test('a key, right or wrong and wherever it was sent, is in no answer, log, metric, or name of the process', async () => {
  const made = (
    await runCli(['keys', 'create', '--name', 'k', '--scope', 'query,manage'], { env })
  ).stdout.trim();
  const service = await startServe({ ...env, TAILRACE_LOG_LEVEL: 'trace' });
  const keys = [PRIVATE_KEY, PUBLIC_KEY, made, ...WRONG];
  const answers = (await Promise.all(keys.map((key) => sendEverywhere(service.url, key)))).flat();
  const metrics = (await get(service.url, '/metrics')).text;
  const { pid = 0 } = service.child;
  const named = ['cmdline', 'comm'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8'));
  const { stdout, stderr } = await service.stop();
  for (const key of keys)
    for (const text of [...answers, metrics, ...named, stdout, stderr]) expect(text).not.toContain(key);
  expect(stderr.split('\n').length).toBeGreaterThan(answers.length); // a line for each, so there was something to look at
});

test('what keys and events are kept in can be read by its owner alone where the folder is open to others', async () => {
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  const open = join(folder.path, 'open');
  await mkdir(open);
  await chmod(open, 0o755);
  await writeFile(join(open, 'control.sqlite'), '', { mode: 0o644 }); // as a backup may have been put back
  const other = await startServe({ ...env, TAILRACE_DATA_DIR: open });
  for (const name of ['control.sqlite', 'control.sqlite-wal', 'engine', 'store'])
    expect([name, (await stat(join(open, name))).mode & 0o077]).toEqual([name, 0]);
  await other.stop();
});
