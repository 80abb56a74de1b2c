import { describe, expect, test } from 'vitest';
import type { Engine, InsertBatch } from '../../src/engine/engine.ts';
import { createWriteMarks, watchWrites } from '../../src/engine/write-marks.ts';

const NOTHING = { before: -Infinity, minutes: [] };

describe('marks', () => {
  test('return the minutes of writes after a version, of one table', () => {
    const marks = createWriteMarks(10);
    marks.mark('a', [1, 2]);
    const { version } = marks;
    marks.mark('a', [2, 3]);
    expect(marks.changedMinutes('a', version)).toEqual({ before: -Infinity, minutes: [2, 3] });
    expect(marks.changedMinutes('b', version)).toEqual(NOTHING);
    expect(marks.changedMinutes('a', marks.version)).toEqual(NOTHING);
  });

  test('say whether a table may have changed, with the minutes known or not', () => {
    const marks = createWriteMarks(10);
    const changed = (version: number) => ['a', 'b'].map((table) => marks.hasChanged(table, version));
    marks.mark('a', [1]);
    expect([changed(0), changed(marks.version)]).toEqual([
      [true, false],
      [false, false],
    ]);
    const before = marks.version;
    marks.markAll();
    expect(changed(before)).toEqual([true, true]);
  });

  test('return that any minute may have changed if the minutes are unknown', () => {
    const marks = createWriteMarks(10);
    const start = marks.version;
    marks.mark('a');
    expect(marks.changedMinutes('a', start)).toBeUndefined();
    expect(marks.changedMinutes('a', marks.version)).toEqual(NOTHING);
    expect(marks.changedMinutes('b', start)).toEqual(NOTHING);
    marks.markAll();
    expect(marks.changedMinutes('b', start)).toBeUndefined();
  });

  test('beyond their bound combine the oldest minutes, and lose none', () => {
    const marks = createWriteMarks(4);
    marks.mark('a', [1, 2, 3]);
    const early = marks.version;
    marks.mark('a', [4, 5]);
    expect(marks.changedMinutes('a', 0)).toEqual({ before: 3, minutes: [3, 4, 5] });
    expect(marks.changedMinutes('a', early)).toEqual({ before: -Infinity, minutes: [4, 5] });
    const late = marks.version;
    marks.mark('a', [1]);
    expect(marks.changedMinutes('a', late)).toEqual({ before: 3, minutes: [] });
  });
});

describe('marks of an earlier process', () => {
  test('are compared with its answers, before those of this one', () => {
    const marks = createWriteMarks(10);
    marks.markAll();
    const a = {
      wholeVersion: 3,
      minutes: new Map([
        [1, 5],
        [2, 7],
      ]),
    };
    marks.restore({ version: 8, tables: new Map([['a', a]]) });
    expect(marks.version).toBe(8);
    expect(marks.changedMinutes('a', 2)).toBeUndefined();
    expect(marks.changedMinutes('a', 5)).toEqual({ before: -Infinity, minutes: [2] });
    expect(marks.changedMinutes('b', 0)).toEqual(NOTHING);
    marks.mark('a', [4]);
    expect(marks.changedMinutes('a', 8)).toEqual({ before: -Infinity, minutes: [4] });
  });

  test('are the changes since a version, of which minutes that are no longer known count as all', () => {
    const marks = createWriteMarks(4);
    marks.mark('a', [1, 2]);
    expect(marks.changesSince('a', 0)).toEqual({
      wholeVersion: 0,
      minutes: new Map([
        [1, 1],
        [2, 1],
      ]),
    });
    marks.mark('a', [2, 3]);
    expect(marks.changesSince('a', 1).minutes).toEqual(
      new Map([
        [2, 2],
        [3, 2],
      ]),
    );
    marks.mark('a', [4, 5]);
    expect(marks.changesSince('a', 0).wholeVersion).toBe(2);
    marks.markAll();
    expect(marks.changesSince('b', 0)).toEqual({ wholeVersion: 4, minutes: new Map() });
  });
});

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

  test('is settled once the writes that were under way are marked', async () => {
    const marks = createWriteMarks(10);
    const { promise, resolve } = Promise.withResolvers<void>();
    const engine = watchWrites({ insert: () => promise } as unknown as Engine, marks);
    const written = engine.insert(batch);
    const versions: number[] = [];
    const settled = marks.settled().then(() => versions.push(marks.version));
    versions.push(marks.version);
    resolve();
    await Promise.all([written, settled]);
    expect(versions).toEqual([1, 2]);
    await marks.settled();
  });

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
