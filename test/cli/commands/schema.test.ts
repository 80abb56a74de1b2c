import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { runProgram } from '../../support/program.ts';

test.each(['endpoint', 'source', 'dashboard', 'test'])(
  'prints the JSON Schema of %s, as the package has it',
  async (kind) => {
    const { code, stdout, stderr } = await runProgram(['schema', kind], {});
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(await readFile(`schema/${kind}.json`, 'utf8'));
  },
);

test('prints the statements of the tables', async () => {
  const { code, stdout } = await runProgram(['schema', '--print'], {});
  expect([code, stdout]).toEqual([0, expect.stringContaining('CREATE TABLE IF NOT EXISTS `edge_logs`')]);
});
