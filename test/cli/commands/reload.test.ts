import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../support/program.ts';
import { ownFolder } from '../../support/service.ts';

const folder = await ownFolder();

test.each(['reload', 'stop'])('%s exits with 1 where no service runs', async (command) => {
  const dir = join(folder.path, 'none');
  const env = { CLICKHOUSE_URL: '', TAILRACE_DATA_DIR: dir };
  const message = `no service runs on data directory ${dir}: start one with "npx tailrace serve", or set TAILRACE_DATA_DIR to the service's`;
  expect(await runProgram([command], env)).toEqual({ code: 1, stdout: '', stderr: `tailrace: ${message}\n` });
});
