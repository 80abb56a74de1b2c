import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, vi } from 'vitest';

interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Working directory; that of the tests unless given. */
  readonly cwd?: string;
}

export interface CliResult {
  /** The exit code; the signal's name where one ended the process. */
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

const CLI = join(import.meta.dirname, '../../bin/tailrace.js');
const running = new Set<ChildProcess>();

/** Starts bin/tailrace.js in a process of its own. */
export function startCli(args: readonly string[], options: CliOptions = {}) {
  return startProgram(process.execPath, [CLI, ...args], options);
}

/** Starts any program, with no more of this process's environment than a shell would give. */
export function startProgram(
  command: string,
  args: readonly string[],
  { env = {}, stdin, cwd }: CliOptions = {},
) {
  const { PATH = '' } = process.env;
  const child = spawn(command, args, { env: { PATH, ...env }, cwd });
  running.add(child);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  child.stdin.on('error', () => {}); // the command may end without having read it
  if (stdin !== undefined) child.stdin.end(stdin);
  const ended = new Promise<CliResult>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve({ code: code ?? signal, ...output });
    });
  });
  return {
    child,
    output: () => output,
    ended,
    /** Resolves with the match as soon as standard output or standard error has it. */
    waitFor: (what: RegExp, timeout = 150_000) =>
      vi.waitFor(
        () => {
          const match = what.exec(output.stdout) ?? what.exec(output.stderr);
          if (match !== null) return match;
          throw new Error(`no ${what} in:\n${output.stdout}${output.stderr}`);
        },
        { timeout, interval: 10 },
      ),
  };
}

/** Runs a command to its end. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return await startCli(args, { stdin: '', ...options }).ended;
}

/** Expects that a command ended with this code and printed this text, or one that matches: on stderr if it failed. */
export function expectExit(
  result: CliResult,
  code: number,
  printed: string | RegExp,
  stream: 'stdout' | 'stderr' = code === 0 ? 'stdout' : 'stderr',
): void {
  const text =
    typeof printed === 'string' ? expect.stringContaining(printed) : expect.stringMatching(printed);
  expect([result.code, result[stream]]).toEqual([code, text]);
}

/** Starts `tailrace serve` on a free port of 127.0.0.1 and waits until it is ready. */
export async function startServe(env: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const service = startCli(['serve', ...args], { env: { TAILRACE_PORT: '0', ...env } });
  const [, url = ''] = await service.waitFor(/ready at (https?:\S+)\n[\s\S]*\n\n$/);
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<CliResult> => {
    service.child.kill(signal);
    return await service.ended;
  };
  return { ...service, url, stop };
}

/** Ends, by their own handles, the processes that a failed test has left. For `afterEach`. */
export async function endLeftProcesses(): Promise<void> {
  const ends = [...running].map((child) => new Promise((resolve) => child.once('close', resolve)));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ends);
}
