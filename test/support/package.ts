import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

/**
 * Builds and packs Tailrace from what .dockerignore lets through, below `folder`.
 *
 * @returns the tarball
 */
export async function makeTarball(folder: string): Promise<string> {
  const build = join(folder, 'build');
  await copyContext(build);
  await linkPackages(build);
  const npm = { cwd: build, env: { PATH: process.env['PATH'] } };
  await exec('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], npm);
  return join(folder, (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? 'no package');
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
async function linkPackages(build: string): Promise<void> {
  const [from, to] = [join(ROOT, 'node_modules'), join(build, 'node_modules')];
  await mkdir(to);
  for (const name of await readdir(from)) {
    if (name === '.bin')
      await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else await symlink(join(from, name), join(to, name));
  }
}
