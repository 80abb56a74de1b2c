import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { InputError, messageOf } from '../../errors.ts';
import { findBelow, makeFolder, packagePath } from '../../lib/file.ts';
import { readVersion } from '../../version.ts';

export function initCommand(): Command {
  return new Command('init')
    .description(
      'Create a project: endpoints with tests, alerts, a dashboard, a search, sources, a compose file, a CI workflow.',
    )
    .argument('[dir]', 'new or empty folder', '.')
    .action(init);
}

// Files that `git init` and `npm install` of Tailrace leave in a folder; they are not the user's content.
const FROM_GIT = /^\.git$/;
const FROM_GIT_OR_NPM = /^(?:\.git|node_modules|package(?:-lock)?\.json|tailrace-[\w.-]+\.tgz)$/;

async function init(dir: string): Promise<void> {
  const names = await explainFailures(dir, async () => (existsSync(dir) ? await readdir(dir) : []));
  const expected = existsSync(join(dir, 'node_modules/tailrace')) ? FROM_GIT_OR_NPM : FROM_GIT;
  const found = names.filter((name) => !expected.test(name));
  if (found.length > 0) throw notEmpty(dir, found);
  await explainFailures(dir, () => writeProject(dir, names.includes('package.json')));
  process.stdout.write(describe(dir));
}

const NAMES_SHOWN_MAX = 5;

function notEmpty(dir: string, names: readonly string[]): InputError {
  const shown = names.toSorted().slice(0, NAMES_SHOWN_MAX).join(', ');
  const more = names.length > NAMES_SHOWN_MAX ? ` and ${names.length - NAMES_SHOWN_MAX} more` : '';
  return new InputError([
    `${nameOf(dir)} is not empty, it has ${shown}${more}; nothing was written; name a new or ` +
      'empty folder, such as "npx tailrace init my-logs"',
  ]);
}

// npm packs no file with that name.
const RENAMED: Readonly<Record<string, string>> = { gitignore: '.gitignore' };

/** Copies the template. A package.json that npm has written is kept: it names the installed Tailrace. */
async function writeProject(dir: string, keepsPackage: boolean): Promise<void> {
  const template = packagePath('template');
  makeFolder(dir);
  const entries = await readdir(template, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const from = join(entry.parentPath, entry.name);
    const name = relative(template, from);
    if (name === 'package.json' && keepsPackage) continue;
    const to = await findBelow(dir, RENAMED[name] ?? name);
    makeFolder(dirname(to));
    if (name !== 'package.json') await copyFile(from, to);
    else await writeFile(to, (await readFile(from, 'utf8')).replace('^0.0.0', `^${readVersion()}`));
  }
}

/** @throws InputError for every failure: all of them are about files */
async function explainFailures<T>(dir: string, work: () => Promise<T>): Promise<T> {
  return await work().catch((cause) => {
    const text = `no project can be created in ${dir}: ${messageOf(cause)}; name a new or empty folder`;
    throw new InputError([text], { cause });
  });
}

/** Describes what was created, and the next commands. */
function describe(dir: string): string {
  const enter = isHere(dir) ? '' : `  cd ${quoteForShell(dir)}\n`;
  const install = findsTailrace(dir) ? '' : '  npm install\n';
  return (
    `Created a project in ${nameOf(dir)}; its README.md describes each file. ` +
    `Next:\n\n${enter}${install}  npx tailrace dev\n  npx tailrace test\n\n`
  );
}

const isHere = (dir: string) => resolve(dir) === process.cwd();
const nameOf = (dir: string) => (isHere(dir) ? 'this folder' : dir);

function quoteForShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whether npx finds an installed Tailrace from this folder: in it, or in one above. */
function findsTailrace(dir: string): boolean {
  try {
    createRequire(join(resolve(dir), 'package.json')).resolve('tailrace/package.json');
    return true;
  } catch {
    return false;
  }
}
