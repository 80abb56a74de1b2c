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
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`ended with ${code}`)));
  [walks] = (await Promise.race([once(child, 'message'), failed])) as [Walks]; // its only message
  failed.catch(() => {});
  await folder.remove();
});

// A bound per kind of request, so that a change that touches more files says so.
test.each([
  ['cached', 13],
  ['miss', 59],
  ['event', 60],
  ['search', 78],
  ['draft', 86],
] as const)('%s passes at most %i files', (kind, most) => {
  const files = walks[kind];
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(most);
});

test('all but a cached GET reach the engine', () => {
  const { cached, ...others } = walks;
  const reach = (files: readonly string[]) => files.includes('engine/embedded/embedded.ts');
  expect(reach(cached)).toBe(false);
  expect(Object.values(others).every(reach)).toBe(true);
});
