import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createReserve, RESERVE_BYTES, SHARE_BYTES, withReserve } from '../../src/lib/reserve.ts';
import { ownFolder } from '../support/service.ts';

const folder = await ownFolder();
let made = 0;

/** A reserve on a disk with so many free bytes. */
function setUp(free: number) {
  const dir = join(folder.path, String(++made));
  mkdirSync(dir);
  const disk = { free };
  const size = () => statSync(join(dir, 'reserve'), { throwIfNoEntry: false })?.size ?? 0;
  return { dir, disk, size, reserve: createReserve(dir, async () => disk.free) };
}

test('the reserve is allocated, given back on a full disk alone, and filled up when there is room again', async () => {
  const { dir, disk, size, reserve } = setUp(1e9);
  await reserve.keep();
  expect([size(), reserve.isSpent()]).toEqual([RESERVE_BYTES, false]);
  expect(statSync(join(dir, 'reserve')).blocks * 512).toBeGreaterThanOrEqual(RESERVE_BYTES);
  await reserve.free();
  expect(size()).toBe(RESERVE_BYTES);

  disk.free = 0;
  await reserve.free(SHARE_BYTES);
  expect([size(), reserve.isSpent()]).toEqual([RESERVE_BYTES - SHARE_BYTES, true]);
  await reserve.free();
  expect(size()).toBe(0);
  disk.free = RESERVE_BYTES + SHARE_BYTES; // the file would fill the disk
  await reserve.keep();
  expect([size(), reserve.isSpent()]).toEqual([0, true]);
  disk.free = RESERVE_BYTES + 2 * SHARE_BYTES;
  await reserve.keep(3 * SHARE_BYTES); // while a deletion runs
  expect([size(), reserve.isSpent()]).toEqual([0, true]);
  await reserve.keep();
  expect([size(), reserve.isSpent()]).toEqual([RESERVE_BYTES, false]);
});

test('a disk that was too full for the reserve at the start has no room for events either', async () => {
  const { reserve, size } = setUp(RESERVE_BYTES);
  expect(reserve.isSpent()).toBe(false);
  await reserve.keep();
  expect([size(), reserve.isSpent()]).toEqual([0, true]);
});

test('work that finds the disk full runs again with a share of the reserve, until there is none', async () => {
  const { dir, reserve, size } = setUp(1e9);
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  let tries = 0;
  const failing = (error: Error, times: number) => () => {
    if (tries++ < times) throw error;
    return 'done';
  };
  expect(() => withReserve(dir, failing(full, 1))).toThrow(full);
  await reserve.keep();
  tries = 0;
  expect(withReserve(dir, failing(new Error('wrapped', { cause: full }), 1))).toBe('done');
  expect([tries, size()]).toEqual([2, RESERVE_BYTES - SHARE_BYTES]);
  tries = 0;
  expect(() => withReserve(dir, failing(full, 2))).toThrow(full);
  expect(() => withReserve(dir, failing(new Error('another'), 3))).toThrow('another');
  expect([tries, size()]).toEqual([3, RESERVE_BYTES - 2 * SHARE_BYTES]);
});
