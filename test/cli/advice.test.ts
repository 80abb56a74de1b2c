import { expect, test } from 'vitest';
import { runProgram } from '../support/program.ts';

test.each([
  [
    ['serve', '--port', '5'],
    /unknown option '--port'\nsettings are environment variables: set TAILRACE_PORT, as in "TAILRACE_PORT=… tailrace serve"/,
  ],
  [
    ['check', '--endpoints-dir=x'],
    /unknown option '--endpoints-dir=x'\nsettings are .* set TAILRACE_ENDPOINTS_DIR/,
  ],
  [['serve', '--nonsense'], /unknown option '--nonsense'\n$/],
])('%j names the setting that was meant', async (args, message) => {
  const { code, stderr } = await runProgram([...args], {});
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});
