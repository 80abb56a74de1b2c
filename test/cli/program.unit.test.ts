import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/main.ts';
import { expectExit } from '../support/cli.ts';
import { runProgram } from '../support/program.ts';
import { ownFolder } from '../support/service.ts';

const folder = await ownFolder();
const env = { TAILRACE_DATA_DIR: join(folder.path, 'data'), TAILRACE_PORT: '0' };

test('no help shows a default as JavaScript writes an empty or missing one', async () => {
  const { commands } = await createProgram();
  const all = [...commands, ...commands.flatMap((command) => command.commands)];
  const odd = /\{\}|\[\]|\[object|undefined|null|NaN/;
  expect(all.map((command) => command.helpInformation()).filter((help) => odd.test(help))).toEqual([]);
  expect(all.length).toBeGreaterThan(20);
});

test.each([[['nosuch']], [['keys', 'create', '--name', 'x', '--scope', 'everything']], [[]]])(
  'misuse of the command exits with 2 and says what is known: tailrace %j',
  async (args) => {
    const failed = await runProgram(args, env);
    expect(failed).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(/^(error: |Usage: )/) });
  },
);

const PORT = 'settings are environment variables: set TAILRACE_PORT, as in "TAILRACE_PORT=… tailrace serve"';
test.each([
  [['serve', '--port', '5'], new RegExp(`unknown option '--port'\n${PORT}`)],
  [['serve', '--nonsense'], /unknown option '--nonsense'\ntailrace --help lists the commands,/],
])('%j names the setting that was meant', async (args, message) => {
  expectExit(await runProgram([...args], {}), 2, message);
});
