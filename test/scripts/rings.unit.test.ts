import { execFile, spawn } from 'node:child_process';
import { expect, test } from 'vitest';

const REFUSED = 'start no process and load no engine';

test('a file of the unit ring that starts a process fails', () => {
  expect(() => spawn('true')).toThrow(REFUSED);
  expect(() => execFile('true')).toThrow(REFUSED);
});

test('a file of the unit ring that loads the engine fails', async () => {
  await expect(import('../../src/engine/process/session-host.ts')).rejects.toThrow(REFUSED);
});
