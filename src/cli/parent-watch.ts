import { type ProcessInfo, readProcess } from './process-info.ts';

const LOOK_EVERY_MS = 500;
// bin/tailrace.js on an old Node, scripts/start.js, the shell of npm, npm.
const PARENTS_MAX = 4;
// bin/bundled-node.js sets it to its own process: inherited by others, it names none of their parents.
const RERUN_BY = '_TAILRACE_RERUN_BY';

/**
 * Calls back when npm, npx or bin/tailrace.js on an old Node, which started this process, has ended without passing a signal on. npm runs
 * commands through a shell that passes none on, so this process would keep port and store without anybody knowing it.
 *
 * A process that leads a group of its own was put on its own, by an interactive shell, `setsid`, systemd or a container, and is
 * not watched for. Neither is one that other programs have started: it may be meant to outlive them.
 */
export function watchParents(env: NodeJS.ProcessEnv, onGone: () => void): void {
  const parents = findParents(env);
  if (parents.length === 0) return;
  const [parentPid] = parents;
  const timer = setInterval(() => {
    if (process.ppid === parentPid && parents.every(isRunning)) return;
    clearInterval(timer);
    onGone();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** The processes from the parent of this one up to npm, or up to bin/tailrace.js on an old Node. */
function findParents(env: NodeJS.ProcessEnv): number[] {
  const self = readProcess(process.pid);
  if (self === undefined || self.groupPid === process.pid) return [];
  const chain = readChain(self);
  const script = env['npm_lifecycle_script']; // npm sets it for what it runs
  if (script !== undefined) {
    const isShell = ({ args }: ProcessInfo) => args[1] === '-c' && args[2]?.startsWith(script) === true;
    const shell = chain.findIndex(isShell);
    // Some shells replace themselves with the command; npm is then the parent.
    return chain.slice(0, shell < 0 ? 1 : shell + 2).map(({ pid }) => pid);
  }
  const [parent] = chain;
  return parent !== undefined && String(parent.pid) === env[RERUN_BY] ? [parent.pid] : [];
}

/** The parent, its parent and so on, as far as they are in the group of this process. */
function readChain({ parentPid, groupPid }: ProcessInfo): (ProcessInfo & { readonly pid: number })[] {
  const chain = [];
  for (let pid = parentPid; chain.length < PARENTS_MAX; ) {
    const info = readProcess(pid);
    if (info === undefined || info.groupPid !== groupPid) break;
    chain.push({ ...info, pid });
    pid = info.parentPid;
  }
  return chain;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'; // it is somebody else's, and there
  }
}
