import { describe, expect, test } from 'vitest';
import type { Engine, InsertBatch } from '../../src/engine/engine.ts';
import { createWriteMarks, watchWrites } from '../../src/engine/write-marks.ts';

describe('a watched engine', () => {
  const batch: InsertBatch = {
    ...{ table: 'a', columns: [], format: 'JSONCompactEachRow', bytes: Buffer.alloc(0) },
    minutes: [7],
  };

  test.for([true, false])(
    'marks a write before it and after it, whether it comes through: %s',
    async (works) => {
      const marks = createWriteMarks(10);
      const seen: unknown[] = [];
      const insert = async () => {
        seen.push(marks.changedMinutes('a', 0));
        if (!works) throw new Error('no');
      };
      const engine = watchWrites({ insert } as unknown as Engine, marks);
      await engine.insert(batch).catch(() => {});
      expect(seen).toEqual([{ before: -Infinity, minutes: [7] }]);
      expect(marks.version).toBe(2);
      expect(marks.changedMinutes('a', 1)).toEqual({ before: -Infinity, minutes: [7] });
    },
  );

  test('takes a command, other filters and a write without minutes for a change of anything', async () => {
    const marks = createWriteMarks(10);
    const done = async () => {};
    const engine = watchWrites(
      { insert: done, command: done, setReadFilters: done } as unknown as Engine,
      marks,
    );
    const { minutes, ...unknown } = batch;
    for (const change of [
      () => engine.command(''),
      () => engine.setReadFilters(new Map()),
      () => engine.insert(unknown),
    ]) {
      const { version } = marks;
      await change();
      expect(marks.changedMinutes('a', version)).toBeUndefined();
    }
  });
});
