import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Makes a checkout below `folder` in which packing disturbs no other test: what .dockerignore lets through, and the scripts.
 *
 * @returns its folder
 */
export async function makeCheckout(folder: string): Promise<string> {
  const checkout = join(folder, 'tailrace');
  await copyContext(checkout);
  await cp(join(ROOT, 'scripts'), join(checkout, 'scripts'), { recursive: true });
  await linkPackages(checkout);
  return checkout;
}

/** Copies what .dockerignore lets through, by its lines with `!`. */
async function copyContext(to: string): Promise<void> {
  const lines = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n');
  for (const line of lines.filter((one) => one.startsWith('!'))) {
    const name = line.slice(1);
    await mkdir(dirname(join(to, name)), { recursive: true });
    const isBuilt = (path: string) => path.startsWith(join(ROOT, 'console/dist'));
    await cp(join(ROOT, name), join(to, name), { recursive: true, filter: (path) => !isBuilt(path) });
  }
}

/** The packages of this checkout, each linked by itself: packing writes into the folder. */
async function linkPackages(checkout: string): Promise<void> {
  const [from, to] = [join(ROOT, 'node_modules'), join(checkout, 'node_modules')];
  await mkdir(to);
  for (const name of await readdir(from)) {
    if (name === '.bin')
      await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else await symlink(join(from, name), join(to, name));
  }
}
