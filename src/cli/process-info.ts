import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';

/** What the operating system says of a process. */
export interface ProcessInfo {
  readonly parentPid: number;
  readonly groupPid: number;
  /** Its command line, a word each. A program can overwrite it, as npm does. */
  readonly args: readonly string[];
}

/** Reads a process from /proc, or by `ps` where there is none (macOS). `undefined`: it has ended, or cannot be seen from here. */
export function readProcess(pid: number): ProcessInfo | undefined {
  try {
    return HAS_PROC ? readProc(pid) : readPs(pid);
  } catch {
    return undefined;
  }
}

const HAS_PROC = process.platform === 'linux';

function readProc(pid: number): ProcessInfo | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold spaces and parentheses itself.
  const [state, parentPid, groupPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z') return undefined; // ended, and its parent has not asked how
  const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  return { parentPid: Number(parentPid), groupPid: Number(groupPid), args };
}

function readPs(pid: number): ProcessInfo | undefined {
  const line = run('ps', ['-o', 'stat=,ppid=,pgid=,args=', '-p', String(pid)]).trim();
  const [state = 'Z', parentPid, groupPid, ...args] = line.split(/\s+/);
  return state.startsWith('Z')
    ? undefined
    : { parentPid: Number(parentPid), groupPid: Number(groupPid), args };
}

/**
 * Whether a process has a file open, so that a number that was read somewhere is known to be the process that is meant and not another
 * one that got the number since, or one of another container.
 */
export function hasOpen(pid: number, file: string): boolean {
  try {
    if (!HAS_PROC) return run('lsof', ['-t', '-a', '-p', String(pid), '--', file]).trim() === String(pid);
    const wanted = statSync(file);
    return readdirSync(`/proc/${pid}/fd`).some((name) => {
      const found = statSync(`/proc/${pid}/fd/${name}`, { throwIfNoEntry: false });
      return found !== undefined && found.dev === wanted.dev && found.ino === wanted.ino;
    });
  } catch {
    return false; // it has ended, or belongs to somebody else, who alone may signal it
  }
}

const RUN_MS_MAX = 5_000;

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: RUN_MS_MAX,
  });
}
