// npm run init FOLDER: from a fresh clone to a project of one's own, with the package of this clone installed in it.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { install, node, run, say } from './prepare.js';

const [name, ...more] = process.argv.slice(2);
if (name === undefined || more.length > 0)
  stop(2, 'name one new or empty folder, such as npm run init ../my-logs');
const folder = resolve(process.env.INIT_CWD ?? '.', name);
const fault = makeEmptyFolder();
if (fault !== undefined) stop(2, `${name} ${fault}; nothing was written; name a new or empty folder`);

await install();
say('packing Tailrace');
await must('npm', ['pack', '--silent', '--pack-destination', folder]);
const [tarball] = readdirSync(folder);
say('installing it in the new folder');
const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
await must('npm', ['install', ...quiet, '--prefix', folder, join(folder, tarball)]);
await must(node, ['bin/tailrace.js', 'init', folder]);

/** @returns why it cannot be used */
function makeEmptyFolder() {
  try {
    if (!existsSync(folder)) mkdirSync(folder);
    return readdirSync(folder).length > 0 ? 'is not empty' : undefined;
  } catch (error) {
    return `cannot be used: ${error.message}`;
  }
}

async function must(command, args) {
  if ((await run(command, args)) !== 0) stop(3, `${command} ${args[0]} failed; see above`);
}

function stop(code, line) {
  say(line);
  process.exit(code);
}
