import { readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createHistory } from '../../src/workbench/history.ts';
import { temporaryFolder } from '../support/service.ts';

const root = await temporaryFolder();
afterAll(root.remove);
let ids = 0;
let nowMs = Date.UTC(2026, 10, 20);
function open(name: string) {
  return createHistory({
    dir: join(root.path, name),
    now: () => nowMs++,
    newId: () => String(++ids),
    onFailure(error) {
      throw error;
    },
  });
}
const of = { kind: 'endpoints', id: 'A' } as const;

test('keeps the last 50 versions', async () => {
  const history = open('count');
  for (let i = 0; i < 60; i++)
    await history.keep({ ...of, by: 'x', before: undefined, texts: { definition: `${i}` } });
  const kept = await history.list(of);
  expect(kept.map(({ definition }) => Number(definition))).toEqual(
    Array.from({ length: 50 }, (_, i) => 59 - i),
  );
});

test('keeps 1 MiB of versions, the last one always', async () => {
  const history = open('bytes');
  const texts = (i: number) => ({ definition: `${i}`, sql: 'x'.repeat(100_000) });
  for (let i = 0; i < 15; i++) await history.keep({ ...of, by: 'x', before: undefined, texts: texts(i) });
  const kept = await history.list(of);
  expect(kept).toHaveLength(10);
  expect(kept[0]?.definition).toBe('14');
  const { size } = await stat(join(root.path, 'bytes/endpoints-a.json'));
  expect(size).toBeLessThan(1024 * 1024 + 100);
});

test('keeps 64 MiB in all: histories that were written least recently are deleted', async () => {
  const history = open('all');
  const sql = 'x'.repeat(1_000_000);
  const count = 70;
  for (let i = 0; i < count; i++) {
    await history.keep({
      kind: 'alerts',
      id: `a${i}`,
      by: 'x',
      before: undefined,
      texts: { definition: sql },
    });
    await utimes(join(root.path, `all/alerts-a${i}.json`), i, i);
  }
  await history.keep({ kind: 'alerts', id: 'last', by: 'x', before: undefined, texts: { definition: sql } });
  const left = await readdir(join(root.path, 'all'));
  expect(left).toHaveLength(67);
  expect(left).toContain('alerts-last.json');
  expect(left).not.toContain('alerts-a0.json');
});
