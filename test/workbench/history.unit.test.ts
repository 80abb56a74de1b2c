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

test('keeps 50 versions and 1 MiB of a definition, the last one always', async () => {
  const history = open('bounds');
  const keep = (i: number, length: number) =>
    history.keep({
      ...of,
      by: 'x',
      before: undefined,
      texts: { definition: `${i}`, sql: 'x'.repeat(length) },
    });
  const kept = async () => (await history.list(of)).map(({ definition }) => Number(definition));
  for (let i = 0; i < 60; i++) await keep(i, 1);
  expect(await kept()).toEqual(Array.from({ length: 50 }, (_, i) => 59 - i));
  for (let i = 60; i < 75; i++) await keep(i, 100_000);
  expect(await kept()).toEqual([74, 73, 72, 71, 70, 69, 68, 67, 66, 65]);
});
