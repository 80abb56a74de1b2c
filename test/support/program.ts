import { Readable } from 'node:stream';
import { vi } from 'vitest';
import { runCommand } from '../../src/cli/main.ts';
import type { CliResult } from './cli.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command in the process of the test, which saves starting one. For commands that end by themselves; what gets a signal or
 * serves is started by cli.ts.
 *
 * @param env its settings; those of this process are hidden from it
 */
export async function runProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { stdin = '' }: { readonly stdin?: string } = {},
): Promise<CliResult> {
  const { env: own, exitCode } = process;
  const output = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      output[name] += String(chunk);
      return true;
    }),
  );
  const input = vi
    .spyOn(process, 'stdin', 'get')
    .mockReturnValue(Readable.from([Buffer.from(stdin)]) as typeof process.stdin);
  const handlers = SIGNALS.map((signal) => ({ signal, before: process.listeners(signal) }));
  const others = Object.entries(own).filter(([name]) => !/^(?:TAILRACE|LOGFLARE|CLICKHOUSE|npm)_/.test(name));
  process.env = { ...Object.fromEntries(others), ...env };
  try {
    const code = await runCommand(['node', 'tailrace', ...args]);
    return { code: code ?? Number(process.exitCode ?? 0), ...output };
  } finally {
    process.env = own;
    process.exitCode = exitCode;
    for (const { signal, before } of handlers)
      for (const handler of process.listeners(signal))
        if (!before.includes(handler)) process.off(signal, handler);
    for (const spy of [...spies, input]) spy.mockRestore();
  }
}
