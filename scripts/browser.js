// The browser of the browser tests: Chromium, which playwright-core drives and does not bring.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Path of a Chromium; undefined where there is none. */
export function findBrowser() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin'];
  return folders
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** Installs Debian's package where that is possible without asking anybody. */
export function installBrowser(say) {
  if (findBrowser() !== undefined) return;
  const isRoot = process.getuid?.() === 0;
  if (isRoot && spawnSync('apt-get', ['--version']).status === 0) {
    say('installing chromium for the browser tests');
    const quiet = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
    spawnSync('apt-get', ['update'], quiet);
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], quiet);
  }
  if (findBrowser() === undefined) {
    say(
      'there is no Chromium, which the browser tests need: install it, on Debian by apt-get install chromium',
    );
  }
}
