import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLinkedCopy } from './linked-copy.ts';

let parent: string;
let dataDir: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'tailrace-test-'));
  dataDir = join(parent, 'data');
  mkdirSync(join(dataDir, 'store/part'), { recursive: true });
  writeFileSync(join(dataDir, 'store/part/data.bin'), 'column');
  writeFileSync(join(dataDir, 'store/log.txt'), 'line');
  writeFileSync(join(dataDir, 'lock.sqlite'), '');
});

afterEach(() => rmSync(parent, { recursive: true, force: true }));

test('shares columns with a copy and nothing that is written again or locked', async () => {
  await withLinkedCopy({ dataDir, endMs: 7 }, async (copy) => {
    expect(copy.endMs).toBe(7);
    const inode = (folder: string) => statSync(join(folder, 'store/part/data.bin')).ino;
    expect(inode(copy.dataDir)).toBe(inode(dataDir));
    expect(existsSync(join(copy.dataDir, 'lock.sqlite'))).toBe(false);
    appendFileSync(join(copy.dataDir, 'store/log.txt'), 'another');
    rmSync(join(copy.dataDir, 'store/part'), { recursive: true });
  });
  expect(readFileSync(join(dataDir, 'store/log.txt'), 'utf8')).toBe('line');
  expect(readFileSync(join(dataDir, 'store/part/data.bin'), 'utf8')).toBe('column');
});

test('removes the copy whatever becomes of the work', async () => {
  const work = withLinkedCopy({ dataDir, endMs: 7 }, () => Promise.reject(new Error('no luck')));
  await expect(work).rejects.toThrow('no luck');
  expect(readdirSync(parent)).toEqual(['data']);
});
