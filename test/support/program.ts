import { vi } from 'vitest';
import { runCommand } from '../../src/cli/main.ts';
import type { CliResult } from './cli.ts';

/**
 * Runs a command in the process of the test, which saves starting one. Only for commands that end by themselves: one that handles
 * signals would leave its handlers behind (cli.ts starts those).
 */
export async function runProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  const own = process.env;
  const output = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      output[name] += String(chunk);
      return true;
    }),
  );
  const others = Object.entries(own).filter(([name]) => !/^(?:TAILRACE|LOGFLARE|CLICKHOUSE)_/.test(name));
  process.env = { ...Object.fromEntries(others), ...env };
  try {
    const code = await runCommand(['node', 'tailrace', ...args]);
    return { code: code ?? 0, ...output };
  } finally {
    process.env = own;
    for (const spy of spies) spy.mockRestore();
  }
}
