// The programs beside Node that tests use, each real and from Debian: a browser, a proxy, the stores that replicas share, and a sender.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const LIBRARIES = '/usr/lib';
const POSTGRES = `${LIBRARIES}/postgresql`;

const PROGRAMS = {
  chromium: {
    package: 'chromium',
    names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  },
  nginx: { package: 'nginx-light', names: ['nginx'] },
  // A module of rsyslog, in the folder of the machine's architecture.
  omelasticsearch: {
    package: 'rsyslog-elasticsearch',
    names: ['omelasticsearch.so'],
    folders: rsyslogFolders,
  },
  // `initdb` stands beside it. Debian keeps both out of PATH, in a folder for each version.
  postgres: { package: 'postgresql', names: ['postgres'], folders: postgresFolders },
  rsyslog: { package: 'rsyslog', names: ['rsyslogd'] },
  'redis-server': { package: 'redis-server', names: ['redis-server', 'valkey-server'] },
};

/** Path of a program; undefined where there is none. */
export function findProgram(program) {
  const { names, folders = () => [] } = PROGRAMS[program];
  const all = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/sbin', ...folders()];
  return all.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path));
}

/** Newest first. */
function postgresFolders() {
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES) : [];
  return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(POSTGRES, version, 'bin'));
}

function rsyslogFolders() {
  const folders = existsSync(LIBRARIES) ? readdirSync(LIBRARIES) : [];
  return folders.map((folder) => join(LIBRARIES, folder, 'rsyslog'));
}

/**
 * Installs Debian's packages where that is possible without asking anybody. Tests of what is missing then are skipped, or say so.
 *
 * @param wanted default: all programs
 */
export function installPrograms(say, wanted = Object.keys(PROGRAMS)) {
  const missing = () => wanted.filter((program) => findProgram(program) === undefined);
  const packages = missing().map((program) => PROGRAMS[program].package);
  if (packages.length === 0) return;
  if (process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0) {
    say(`installing ${packages.join(', ')} for the tests`);
    // RUNLEVEL=1 keeps the packages from starting servers of their own.
    const quiet = {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    };
    spawnSync('apt-get', ['update'], quiet);
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...packages], quiet);
  }
  const left = missing();
  if (left.length === 0) return;
  const names = left.map((program) => PROGRAMS[program].package).join(' ');
  say(`not there, so what needs it is not tested: ${left.join(', ')}; on Debian: apt-get install ${names}`);
}
