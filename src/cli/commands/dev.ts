import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { InputError, messageOf } from '../../errors.ts';
import { openTokenSecret } from '../../keys/token.ts';
import { deriveSecret } from '../../lib/hash.ts';
import type { Core } from '../../service/open-core.ts';
import { readConfig, stopSignal } from '../environment.ts';
import { DEV_STORE } from '../local-service.ts';
import { createLogger, runService } from '../run-service.ts';
import { fillWithSample } from './sample.ts';
import { runTests, summarise, toText } from './test.ts';

const { dataDir: DATA_DIR } = DEV_STORE;
/** A file that is written once, so it is as old as the sample logs. */
const IGNORE_FILE = join(DATA_DIR, '.gitignore');
// Events that are stored in a second or two, and enough for every chart of the console.
const SAMPLE_ROWS = 20_000;

export function devCommand(): Command {
  return new Command('dev')
    .description(`Run the service for development: sample logs in ./${DATA_DIR}, reload and tests on change.`)
    .action(dev);
}

async function dev(): Promise<void> {
  // A line for each request would bury the results of reloads and tests.
  const logLevel = process.env['TAILRACE_LOG_LEVEL'] || 'warn';
  const given = { ...readConfig({ TAILRACE_LOG_LEVEL: logLevel }), ...DEV_STORE };
  createDataDir();
  const key = given.privateKey === '' ? openDevKey(given) : undefined;
  const config = { ...given, privateKey: key ?? given.privateKey, editEndpoints: '1' as const };
  const stop = stopSignal();
  await runService({
    ...{ config, logger: createLogger(config), stop, command: 'dev', isWatching: true },
    async fill(core, signal) {
      await fillWithSample(core, signal, SAMPLE_ROWS);
      reportOldSample();
    },
    onReloaded: (paths, core) => testChanged(paths, core, { config, signal: stop }),
    async welcome() {
      if (key === undefined)
        return { about: ['The key is that of TAILRACE_PRIVATE_KEY.'], key: '$TAILRACE_PRIVATE_KEY' };
      return { about: ['The key of this folder, with every scope:', '', `  ${key}`], key };
    },
  });
}

/**
 * Returns the key of the data directory of `tailrace dev`, which is always the same: calls in the history of a shell
 * keep working.
 */
function openDevKey({ dataDir, tokenSecret }: Config): string {
  const secret = deriveSecret(openTokenSecret(dataDir, tokenSecret), 'development key');
  return `dev_${Buffer.from(secret).toString('base64url')}`;
}

/** Creates the data directory so that git ignores it. @throws InputError if it cannot be used */
function createDataDir(): void {
  try {
    mkdirSync(DATA_DIR, { recursive: true, mode: 0o700 });
    if (!existsSync(IGNORE_FILE)) writeFileSync(IGNORE_FILE, '*\n');
  } catch (error) {
    throw new InputError([`data directory ${DATA_DIR} cannot be used: ${messageOf(error)}`], {
      cause: error,
    });
  }
}

const DAY_MS = 86_400_000;

/**
 * Warns about an old sample: otherwise an endpoint of the last hour would return no rows on the next day, without a
 * reason.
 */
function reportOldSample(): void {
  const days = Math.floor((Date.now() - statSync(IGNORE_FILE).mtimeMs) / DAY_MS);
  if (days > 0)
    process.stderr.write(
      `sample: the events in ${DATA_DIR} are ${days === 1 ? 'a day' : `${days} days`} old; delete ` +
        `it for new ones and a new key\n`,
    );
}

/** Runs and prints the tests of the endpoints with changed files; of all endpoints, if a source or an alert has changed. */
async function testChanged(
  paths: ReadonlySet<string>,
  { registry, folders }: Core,
  options: { readonly config: Config; readonly signal: AbortSignal },
): Promise<void> {
  const isBelow = (folder: string) =>
    [...paths].some((path) => `${resolve(path)}${sep}`.startsWith(`${resolve(folder)}${sep}`));
  const { sourcesDir, alertsDir } = folders;
  const isAny = isBelow(sourcesDir) || (alertsDir !== undefined && isBelow(alertsDir));
  const changed = registry.endpoints.filter(({ file }) => isAny || isBelow(dirname(file)));
  if (changed.length === 0) return;
  try {
    const results = await runTests({ ...options, names: changed.map(({ name }) => name) });
    if (results.length > 0) process.stdout.write(`${toText(results)}${summarise(results)}\n`);
  } catch (error) {
    if (options.signal.aborted) return;
    const faults = error instanceof InputError ? error.faults : [messageOf(error)];
    process.stderr.write(faults.map((fault) => `tailrace: ${fault}\n`).join(''));
  }
}
