import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { nodePackage } from '../../bin/bundled-node.js';

const exec = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

/**
 * Does what the Dockerfile does, below `folder`: builds and packs Tailrace from what .dockerignore lets through, unpacks it, and
 * puts the packages beside it that `npm install --omit=dev` would bring. Nothing can be made or removed there until `unlock`.
 *
 * @returns the folder that is the image's /app, and the tarball
 */
export async function makePackage(
  folder: string,
): Promise<{ app: string; tarball: string; unlock: () => Promise<void> }> {
  const app = join(folder, 'app');
  const tarball = await makeTarball(folder);
  await exec('tar', ['-xzf', tarball, '-C', folder]);
  await rename(join(folder, 'package'), app);
  await copyShippedPackages(join(app, 'node_modules'));
  await setModes(app, 'a+rx,a-w');
  return { app, tarball, unlock: () => setModes(app, 'u+w') };
}

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

/** Of folders only: the files of the packages are hard links to those of this checkout, whose modes must stay. */
async function setModes(folder: string, mode: string): Promise<void> {
  await exec('find', [folder, '-type', 'd', '-exec', 'chmod', mode, '{}', '+']);
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

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly link?: boolean }>>;
}

/** What the lock file does not mark as for development alone or as a workspace, and is installed here: not another platform's. The image has Node itself. */
async function copyShippedPackages(to: string): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as LockFile;
  for (const [path, { dev, link }] of Object.entries(packages)) {
    const [, name = ''] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    if (name === '' || dev === true || link === true || name === nodePackage || !existsSync(join(ROOT, path)))
      continue;
    await mkdir(dirname(join(to, name)), { recursive: true });
    await linkTree(join(ROOT, path), join(to, name));
  }
}

/** As hard links, since the engine's library alone has half a gigabyte; as a copy on another file system. */
async function linkTree(from: string, to: string): Promise<void> {
  await exec('cp', ['-al', from, to]).catch(() => exec('cp', ['-a', from, to]));
}
