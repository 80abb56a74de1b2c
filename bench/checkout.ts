import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inTemporaryFolder } from './data.ts';
import { say, Unmeasured } from './report.ts';

/** A checkout of this repository with its packages. */
export interface Checkout {
  /** An abbreviated hash; it ends in `-dirty` if files have changed since. */
  readonly commit: string;
  readonly root: string;
}

const ROOT = join(import.meta.dirname, '..');

/** This checkout. */
export function readOwnCheckout(): Checkout {
  return { commit: git('describe', '--always', '--dirty', '--exclude=*'), root: ROOT };
}

/** Runs `work` with another commit in a temporary folder. Its packages are these ones if both lock files are the same. */
export async function withCheckout<T>(ref: string, work: (other: Checkout) => Promise<T>): Promise<T> {
  const commit = git('rev-parse', '--short', '--verify', `${ref}^{commit}`);
  return await inTemporaryFolder(async (root) => {
    git('clone', '--quiet', '--shared', '--no-checkout', ROOT, root);
    git('-C', root, 'checkout', '--quiet', '--detach', commit);
    const [own, other] = [ROOT, root].map((folder) => readFileSync(join(folder, 'package-lock.json')));
    if (own?.equals(other ?? Buffer.of()))
      symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    else {
      say(`installs the packages of ${commit}`);
      const args = ['install', '--no-save', '--no-audit', '--no-fund', '--silent'];
      execFileSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] });
    }
    return await work({ commit, root });
  });
}

/** The newest tag of a release before this commit. @throws Unmeasured if there is none */
export function findRelease(): string {
  try {
    return git('describe', '--tags', '--abbrev=0', '--match=v*', 'HEAD^');
  } catch {
    throw new Unmeasured('no release before this commit; name a commit: --against <commit>');
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', ROOT, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
