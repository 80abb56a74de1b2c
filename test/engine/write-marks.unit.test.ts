import { describe, expect, test } from 'vitest';
import type { Engine, InsertBatch } from '../../src/engine/engine.ts';
import { createFilledTables, watchWrites } from '../../src/engine/write-marks.ts';

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

const settle = () => new Promise(setImmediate);

function open({ seesEveryWrite = true } = {}) {
  const stored = new Set(['full']);
  const state = { reads: 0, fails: false };
  const written = new Map<string, number>();
  const writes = {
    version: 0,
    hasChanged: (table: string, version: number) => (written.get(table) ?? 0) > version,
    mark: (table: string) => void written.set(table, ++writes.version),
  };
  const engine = {
    seesEveryWrite,
    async inspect() {
      state.reads++;
      if (state.fails) throw new Error('the engine restarts');
      return [...stored].map((table) => ({ table }) as never);
    },
  };
  return { filled: createFilledTables(engine, writes), stored, writes, state };
}

describe('whether a table may have rows', () => {
  test('is unknown before the first reading, and no longer after it', async () => {
    const { filled, state } = open();
    expect(filled.mayHaveRows('empty')).toBe(true);
    expect(filled.mayHaveRows('empty')).toBe(true);
    expect(state.reads).toBe(1);
    await settle();
    expect(filled.mayHaveRows('empty')).toBe(false);
    expect(filled.mayHaveRows('full')).toBe(true);
    expect(state.reads).toBe(1);
  });

  test('a write during a reading counts, even if the reading does not see it', async () => {
    const { filled, writes } = open();
    filled.mayHaveRows('empty');
    writes.mark('empty');
    await settle();
    expect(filled.mayHaveRows('empty')).toBe(true);
  });
});
