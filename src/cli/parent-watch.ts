import { type ProcessInfo, readProcess } from './process-info.ts';

const POLL_EVERY_MS = 500;
// At most bin/tailrace.js on an old Node, scripts/start.js, the shell of npm, npm.
const PARENTS_MAX = 4;
// bin/bundled-node.js sets it to its own pid, so an inherited value matches no parent.
const RERUN_BY = '_TAILRACE_RERUN_BY';

/**
 * Calls back when npm, npx or bin/tailrace.js on an old Node has started this process and has ended without forwarding a signal. npm
 * runs commands through a shell that forwards none, so this process would silently keep its port and store.
 *
 * A process that leads its own group was started on purpose to be independent, by an interactive shell, `setsid`, systemd or a
 * container; it does not watch its parents. Neither does a process that another program has started, since it may have to outlive that program.
 */
export function watchParents(env: NodeJS.ProcessEnv, onGone: () => void): void {
  const parents = findParents(env);
  if (parents.length === 0) return;
  const [parentPid] = parents;
  const timer = setInterval(() => {
    if (process.ppid === parentPid && parents.every(isRunning)) return;
    clearInterval(timer);
    onGone();
  }, POLL_EVERY_MS);
  timer.unref();
}

/** Finds the ancestors of this process up to npm, or up to bin/tailrace.js on an old Node. */
function findParents(env: NodeJS.ProcessEnv): number[] {
  const self = readProcess(process.pid);
  if (self === undefined || self.groupPid === process.pid) return [];
  const chain = readChain(self);
  const script = env['npm_lifecycle_script']; // set by npm
  if (script !== undefined) {
    const isShell = ({ args }: ProcessInfo) => args[1] === '-c' && args[2]?.startsWith(script) === true;
    const shell = chain.findIndex(isShell);
    // Some shells exec the command; npm is then the parent.
    return chain.slice(0, shell < 0 ? 1 : shell + 2).map(({ pid }) => pid);
  }
  const [parent] = chain;
  return parent !== undefined && String(parent.pid) === env[RERUN_BY] ? [parent.pid] : [];
}

/** Finds the ancestors of a process in its process group, nearest first. */
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
    return (error as { code?: string }).code === 'EPERM'; // it exists and belongs to another user
  }
}
