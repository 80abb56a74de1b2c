import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/service.ts';
import type { Walks } from './walk-process.ts';

test('a request passes few files', { timeout: 60_000 }, async () => {
  const folder = await temporaryFolder();
  const child = fork(join(import.meta.dirname, 'walk-process.ts'), { stdio: 'inherit' });
  child.send(folder.path);
  const [{ cached, miss }] = (await once(child, 'message')) as [Walks]; // its only message
  await folder.remove();
  console.log(cached.length, cached.join('\n'));
  console.log(miss.length, miss.join('\n'));
  expect(cached.length, cached.join('\n')).toBeLessThanOrEqual(12);
});
