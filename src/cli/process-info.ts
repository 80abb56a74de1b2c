import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process, as the operating system describes it. */
export interface ProcessInfo {
  readonly parentPid: number;
  readonly groupPid: number;
  /** Its command line. A program can overwrite it, as npm does. */
  readonly args: readonly string[];
}

/** Reads a process from /proc, or with `ps` on macOS. `undefined`: it has ended, or is in another namespace. */
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
  // The name is in parentheses and may contain spaces and parentheses.
  const [state, parentPid, groupPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z') return undefined; // a zombie has ended
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

const RUN_MS_MAX = 5_000;

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: RUN_MS_MAX,
  });
}
