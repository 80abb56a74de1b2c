import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';
import { temporaryFolder } from '../support/service.ts';
import { findSettingFaults } from './settings.ts';

const exec = promisify(execFile);
const UNIT = readFileSync('deploy/systemd/tailrace.service', 'utf8');
const ANALYZE = ['/usr/bin/systemd-analyze', '/bin/systemd-analyze'].find(existsSync);
const folder = await temporaryFolder();
afterAll(folder.remove);

/** The keys of the unit, the last value of each. */
function readKeys(unit: string): ReadonlyMap<string, string> {
  return new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]));
}

/** What our own rules have to say. */
function findFaults(unit: string): string[] {
  const keys = readKeys(unit);
  const is = (key: string, value: string) => keys.get(key) === value;
  const { shutdownTimeoutMs } = SETTINGS;
  const rules: [right: boolean, fault: string][] = [
    [
      /^\/\S+\/node \/\S+\/bin\/tailrace\.js serve$/.test(keys.get('ExecStart') ?? ''),
      'node is to be the main process',
    ],
    [is('ExecReload', '/bin/kill -HUP $MAINPID'), 'a reload is to send SIGHUP'],
    [
      Number(keys.get('TimeoutStopSec')) * 1_000 > Number(shutdownTimeoutMs.fallback) + 5_000,
      'a stop is to wait longer than Tailrace does',
    ],
    [is('Restart', 'on-failure') && is('RestartPreventExitStatus', '1 2'), 'a crash alone is to restart it'],
    [is('StartLimitIntervalSec', '0'), 'it is to be started again however often that fails'],
    [keys.has('User') && !is('User', 'root'), 'it is not to be root'],
    [is('ProtectSystem', 'strict') && keys.has('StateDirectory'), 'it is to write to its state alone'],
    [
      is('CacheDirectory', 'tailrace') && /^Environment=XDG_CACHE_HOME=\/var\/cache$/m.test(unit),
      'compiled code is to have a folder of its own',
    ],
    [!keys.has('MemoryDenyWriteExecute'), 'Node is to be allowed to compile'],
    [is('CapabilityBoundingSet', '') && is('NoNewPrivileges', 'yes'), 'it is to have no capability'],
  ];
  const environment = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  return [
    ...rules.filter(([right]) => !right).map(([, fault]) => fault),
    ...findSettingFaults(Object.fromEntries(environment)),
  ];
}

test('the unit has no fault', () => {
  expect(findFaults(UNIT)).toEqual([]);
});

test.each([
  ['/node /opt', '/npx /opt', 'node is to be the main process'],
  ['-HUP', '-USR1', 'a reload is to send SIGHUP'],
  ['TimeoutStopSec=30', 'TimeoutStopSec=10', 'a stop is to wait longer than Tailrace does'],
  ['Restart=on-failure', 'Restart=always', 'a crash alone is to restart it'],
  ['LimitIntervalSec=0', 'LimitIntervalSec=10', 'it is to be started again however often that fails'],
  ['User=tailrace', 'User=root', 'it is not to be root'],
  ['ProtectSystem=strict', 'ProtectSystem=full', 'it is to write to its state alone'],
  ['CacheDirectory=', 'LogsDirectory=', 'compiled code is to have a folder of its own'],
  ['XDG_CACHE_HOME=/var/cache', 'XDG_CACHE_HOME=/var/lib', 'compiled code is to have a folder of its own'],
  ['LockPersonality=yes', 'MemoryDenyWriteExecute=yes', 'Node is to be allowed to compile'],
  ['CapabilityBoundingSet=', 'CapabilityBoundingSet=CAP_SYS_ADMIN', 'it is to have no capability'],
  ['TAILRACE_DATA_DIR', 'TAILRACE_DATA_FOLDER', 'TAILRACE_DATA_FOLDER is not a setting'],
])('“%s” as “%s” is told', (right, wrong, fault) => {
  expect(UNIT).toContain(right);
  expect(findFaults(UNIT.replace(right, wrong))).toContain(fault);
});

test.skipIf(ANALYZE === undefined)('systemd itself finds nothing wrong, and finds what is', async () => {
  const file = join(folder.path, 'tailrace.service');
  // It wants programs that exist.
  const verify = async (unit: string) => {
    await writeFile(file, unit.replace('/opt/tailrace/node_modules/.bin/node', process.execPath));
    const done = exec(ANALYZE ?? '', ['verify', '--man=no', file]).catch(
      (error: { stderr: string }) => error,
    );
    return (await done).stderr.split('\n').filter((line) => line.includes('tailrace.service'));
  };
  expect(await verify(UNIT)).toEqual([]);
  expect(await verify(UNIT.replace('ProtectHome=', 'ProtectHomes='))).toEqual([
    expect.stringMatching(/Unknown key.* 'ProtectHomes'/),
  ]);
});

test('the unit reads what docs/deploying.md installs', () => {
  const page = readFileSync('docs/deploying.md', 'utf8');
  for (const path of ['/opt/tailrace', '/etc/tailrace/tailrace.env']) {
    expect(UNIT).toContain(path);
    expect(page).toContain(path);
  }
});
