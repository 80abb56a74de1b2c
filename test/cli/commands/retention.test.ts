import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { clockFile } from '../../../src/retention/file.ts';
import { copyFewDefinitions } from '../../support/definitions.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

test('tailrace retention shows why retention has stopped, and confirms it', async () => {
  const dataDir = join(folder.path, 'data');
  const env = { ...(await copyFewDefinitions(folder.path)), TAILRACE_DATA_DIR: dataDir };
  expect((await runProgram(['retention'], env)).stdout).toMatch(/^clock: \S+, plausible\nnothing is due\n$/);
  // To the next process the clock is 40 days ahead.
  clockFile(dataDir).write({ seen_ms: Date.now() - 40 * 86_400_000 });
  expect((await runProgram(['retention', '--confirm'], env)).stdout).toMatch(
    /^clock: \S+, ahead\n[\s\S]*is 40 days ahead of [\s\S]*\nconfirmed: retention continues/,
  );
  expect((await runProgram(['retention'], env)).stdout).toMatch(/^clock: \S+, plausible\n/);
});
