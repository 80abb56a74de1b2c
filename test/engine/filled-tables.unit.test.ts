import { describe, expect, test } from 'vitest';
import { createFilledTables } from '../../src/engine/write-marks.ts';

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
      return [...stored].map((table) => ({ table }));
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
