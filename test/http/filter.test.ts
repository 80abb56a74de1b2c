import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { expectExit } from '../support/cli.ts';
import { toNdjson } from '../support/events.ts';
import { get, post, readMetric } from '../support/http.ts';
import { runProgram } from '../support/program.ts';
import { startProtocolService } from '../support/protocols.ts';
import { newProject, PUBLIC_KEY } from '../support/service.ts';

const service = await startProtocolService();
afterAll(service.close);
const { url, core, config, rows } = service;

const FILE = join(config.sourcesDir, 'logs.yaml');
const whole = await readFile(FILE, 'utf8');
const setRules = async (rules: string) => {
  await writeFile(FILE, `${whole}${rules}`);
  return await core.reload();
};

const event = (project: string, metadata: object) => ({ project, event_message: 'a@b.c', metadata });
const events = (project: string, count: number) =>
  Array.from({ length: count }, (_, i) =>
    event(project, { i, level: i % 4 === 0 ? 'error' : 'debug', password: 'secret' }),
  );

test('rules of a source apply to small and large bodies after a reload, and are counted by source and rule', async () => {
  await setRules(
    'drop: level:debug -i:1\nredact:\n  - { field: metadata.password }\n  - { pattern: "[a-z]+@b", with: "…" }\n',
  );
  for (const count of [4, 2_000]) {
    const project = newProject();
    const { status, headers } = await post(url, '/api/logs?source=logs', events(project, count));
    expect([status, headers.get('x-events-dropped')]).toEqual([200, String((count * 3) / 4 - 1)]);
    const stored = await rows(project);
    expect(stored).toHaveLength(count / 4 + 1);
    expect(stored[0]).toEqual({
      event_message: '….c',
      metadata: '{"i":0,"level":"error","password":"[redacted]"}',
    });
  }
  expect(await readMetric(url, 'tailrace_events_filtered_total', { rule: 'drop' })).toBe(1_501);
});

test('rules of a source leave out lines that `tailrace load` then does not count as stored', async () => {
  await setRules('drop: level:debug\n');
  const project = newProject();
  const args = ['load', 'logs', '-', '--url', url];
  const options = { stdin: toNdjson(events(project, 8)) };
  expectExit(
    await runProgram(args, { TAILRACE_KEY: PUBLIC_KEY }, options),
    0,
    /^-: 2 events, [\d,.]+\/s, 0 rejected, 6 by drop\n$/,
  );
  expect(await rows(project)).toHaveLength(2);
});

test('rules of a source show nothing that they replace in an answer or a search', async () => {
  await setRules('redact: [{ pattern: "hidden-[0-9]+" }]\n');
  const project = newProject();
  const answer = await post(url, '/api/logs?source=logs', [
    { ...event(project, { a: 'hidden-1', timestamp: 'hidden-2' }), timestamp: 'hidden-3' },
    event(project, { a: 'hidden-4' }),
  ]);
  expect(answer.status).toBe(406);
  expect(answer.text).not.toContain('hidden');
  const found = await get(url, `/api/search?project=${project}&q=hidden`);
  expect(found.body.result).toEqual([]);
});

test.each([
  ['drop: "level:loud"', /logs\.yaml:\d+: "drop" has the unknown level "loud"/],
  ['redact: [{ field: metadata.project }]', /cannot replace metadata\.project/],
  ['redact: [{ pattern: "(a{1,30}){1,30}b" }]', /is too large/],
])('rules of a source that are wrong are rejected, and the old ones stay: %s', async (rules, reason) => {
  await expect(setRules(`${rules}\n`)).rejects.toThrow(reason);
  const project = newProject();
  await post(url, '/api/logs?source=logs', [event(project, { a: 'hidden-1' })]);
  expect(await rows(project)).toMatchObject([{ metadata: '{"a":"[redacted]"}' }]);
});
