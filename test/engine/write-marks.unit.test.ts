import { expect, test } from 'vitest';
import type { Engine, InsertBatch } from '../../src/engine/engine.ts';
import { watchWrites } from '../../src/engine/write-marks.ts';

const batch: InsertBatch = {
  ...{ table: 'a', columns: [], format: 'JSONCompactEachRow', bytes: Buffer.alloc(0) },
};

test.for([true, false])(
  'a write is marked before it and after it, for its table, whether it comes through: %s',
  async (works) => {
    const seen: boolean[] = [];
    const insert = async () => {
      seen.push(writes.hasChanged('a', 0));
      if (!works) throw new Error('no');
    };
    const { engine, writes } = watchWrites({ insert } as unknown as Engine);
    await engine.insert(batch).catch(() => {});
    expect(seen).toEqual([true]);
    expect([writes.hasChanged('a', 1), writes.hasChanged('a', 2)]).toEqual([true, false]);
    expect(writes.hasChanged('b', 0)).toBe(false);
  },
);

test('a command is a change of every table', async () => {
  const done = async () => {};
  const { engine, writes } = watchWrites({ command: done } as unknown as Engine);
  const { version } = writes;
  await engine.command('');
  expect(writes.hasChanged('a', version)).toBe(true);
});
