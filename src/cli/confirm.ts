import { openSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { ReadStream } from 'node:tty';

/**
 * Asks a question at the terminal. Its device is opened by its name, since standard input is detached (stdin.ts).
 *
 * @returns `nobody` where there is no terminal
 */
export async function confirm(question: string): Promise<'yes' | 'no' | 'nobody'> {
  const input = process.stderr.isTTY ? openTerminal() : undefined;
  if (input === undefined) return 'nobody';
  const lines = createInterface({ input, output: process.stderr });
  // Without it the end of the input would leave the question open for ever.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), ended]);
    return /^y(es)?$/i.test(answer.trim()) ? 'yes' : 'no';
  } finally {
    lines.close();
    input.destroy();
  }
}

function openTerminal(): ReadStream | undefined {
  try {
    return new ReadStream(openSync('/dev/tty', 'r'));
  } catch {
    return undefined; // a process that has been detached from its terminal
  }
}
