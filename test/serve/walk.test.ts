import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../support/service.ts';
import type { Walks } from './walk-process.ts';

/** By V8's coverage, in a process without the test runner, whose modules add functions of their own. */
let walks: Walks;
beforeAll(async () => {
  const folder = await temporaryFolder();
  const child = fork(join(import.meta.dirname, 'walk-process.ts'));
  child.send(folder.path);
  [walks] = (await once(child, 'message')) as [Walks]; // its only message
  await folder.remove();
});

test('a cached GET passes at most 11 files', () => {
  expect(walks.cached.length, walks.cached.join('\n')).toBeLessThanOrEqual(11);
});

test('a miss passes at most 35 files up to the engine', () => {
  const [first = ''] = walks.miss.filter((file) => file.startsWith('engine/embedded/embedded'));
  expect(first).toBe('engine/embedded/embedded.ts'); // or it was no miss
  const own = walks.miss.filter((file) => !/^(engine|sql)\//.test(file));
  expect(own.length, own.join('\n')).toBeLessThanOrEqual(35);
});
