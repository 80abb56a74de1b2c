import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { lockStore } from '../../../src/engine/store-lock.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

test.each(['reload', 'stop'])(
  '%s exits with 1 if a command that is not a service has the directory',
  async (command) => {
    const dir = join(folder.path, 'load');
    const owner = `tailrace load (pid ${process.pid})`;
    const lock = lockStore(dir, owner);
    onTestFinished(lock.release);
    const { code, stdout, stderr } = await runProgram([command], {
      CLICKHOUSE_URL: '',
      TAILRACE_DATA_DIR: dir,
    });
    const message = `data directory ${dir} is in use by ${owner}, which is not a service`;
    expect([code, stdout, stderr]).toEqual([1, '', `tailrace: ${message}\n`]);
  },
);

test.each(['reload', 'stop'])('%s exits with 1 where no service runs', async (command) => {
  const dir = join(folder.path, 'none');
  const { code, stdout, stderr } = await runProgram([command], {
    CLICKHOUSE_URL: '',
    TAILRACE_DATA_DIR: dir,
  });
  const message = `no service runs on data directory ${dir}; set TAILRACE_DATA_DIR to the service's, which is ./.tailrace for "tailrace dev"`;
  expect([code, stdout, stderr]).toEqual([1, '', `tailrace: ${message}\n`]);
});
