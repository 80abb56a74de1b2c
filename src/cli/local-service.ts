import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { findOwner } from '../engine/store-file.ts';
import { InputError, StoppedError } from '../errors.ts';
import { replaceFile } from '../lib/file.ts';
import { withReserve } from '../lib/reserve.ts';
import { readConfig } from './environment.ts';
import type { Remote, RemoteOptions } from './remote.ts';

/** A service of this machine, with the key that it has for commands: another one with each start. */
export type LocalService = Pick<Remote, 'url' | 'key'>;

// In the data directory. Only the user of the service can read it, who could change the files beside it anyway.
const fileOf = (dataDir: string) => join(dataDir, 'service.json');

type Store = Pick<Config, 'dataDir' | 'clickhouseUrl'>;

export function createLocalKey(): string {
  return `local_${randomBytes(32).toString('base64url')}`;
}

/** Tells commands where the service listens. @returns ends that */
export function announceService(dataDir: string, service: LocalService): () => void {
  const file = fileOf(dataDir);
  const text = JSON.stringify(service);
  withReserve(dataDir, () => replaceFile(file, text));
  return () => {
    // Services on a ClickHouse server may share a data directory: commands then reach the last one that was started.
    if (readText(file) === text) rmSync(file, { force: true });
  };
}

/**
 * Finds the service on the data directory of the settings that listens.
 *
 * @throws InputError if it belongs to another user
 */
export function findLocalService({ dataDir, clickhouseUrl }: Store): Remote | undefined {
  const text = readText(fileOf(dataDir));
  // The file of a killed process is left; a service on a server does not lock the directory, and its port does not
  // answer then.
  if (text === undefined || (clickhouseUrl === '' && !isService(dataDir))) return undefined;
  return { ...(JSON.parse(text) as LocalService), isLocal: true }; // written by `announceService`
}

/** @returns `undefined` if there is no such file */
function readText(file: string): string | undefined {
  try {
    const user = process.getuid?.() ?? 0;
    // Otherwise another user could have a command send this user's events and keys elsewhere.
    if (user !== 0 && statSync(file).uid !== user) throw foreign(file);
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw code === 'EACCES' ? foreign(file) : error;
  }
}

function foreign(file: string): InputError {
  return new InputError([`${file} belongs to another user; run this command as the user of the service`]);
}

/** Whether a service owns a data directory. */
function isService(dataDir: string): boolean {
  return /^tailrace (?:serve|dev) /.test(findOwner(dataDir) ?? '');
}

const START_MS_MAX = 60_000;
const POLL_EVERY_MS = 50;

/**
 * Returns the service on the data directory of the settings, once it listens.
 *
 * @param orElse what helps besides, for the error
 * @throws InputError if there is none
 */
export async function getLocalService(config: Store = findStore(), orElse = ''): Promise<Remote> {
  const { dataDir } = config;
  const endMs = performance.now() + START_MS_MAX;
  for (;;) {
    const found = findLocalService(config);
    if (found !== undefined) return found;
    if (!isService(dataDir)) throw new InputError([describeAbsent(dataDir) + orElse]);
    if (performance.now() > endMs)
      throw new StoppedError(`the service on ${dataDir} is still starting; its log says more`);
    await wait(POLL_EVERY_MS);
  }
}

function describeAbsent(dataDir: string): string {
  const owner = findOwner(dataDir);
  if (owner !== undefined) return `data directory ${dataDir} is in use by ${owner}, which is not a service`;
  return (
    `no service runs on data directory ${dataDir}: start one with "npx tailrace serve", or set ` +
    "TAILRACE_DATA_DIR to the service's"
  );
}

/**
 * The store of `tailrace dev`: neither the production data nor the servers of the settings, so that no event or key
 * there is touched.
 */
export const DEV_STORE = { dataDir: '.tailrace', clickhouseUrl: '', controlUrl: '', redisUrl: '' };

/**
 * Returns the settings for a command on a store: that of TAILRACE_DATA_DIR, else of the service that runs in this
 * folder, else the default. On standard error it says which store that is if no service, or two of them, run here.
 */
export function readStoreConfig(settings = readConfig()): Config {
  return findStore(settings, (note) => process.stderr.write(`tailrace: ${note}\n`));
}

/** As `readStoreConfig`, for commands that say themselves which store they need. */
export function findStore(config = readConfig(), note: (text: string) => void = () => {}): Config {
  if ((process.env['TAILRACE_DATA_DIR'] ?? '') !== '') return config;
  const { dataDir, clickhouseUrl, controlUrl } = config;
  // A service on a server does not lock its data directory.
  const isServed = clickhouseUrl !== '' || controlUrl !== '' || isService(dataDir);
  const isDev = isService(DEV_STORE.dataDir);
  if (isDev && !isServed) return { ...config, ...DEV_STORE };
  if (isDev) note(`using the store of the settings (${dataDir}), not that of "tailrace dev"`);
  else if (!isServed)
    note(`no service runs on ${dataDir} or ${DEV_STORE.dataDir}; using data directory ${dataDir}`);
  return config;
}

/**
 * Returns the service that a command calls: that of `--url`, else the one that runs in this folder. The key is that of
 * the options, else of the environment, where an empty value counts as not set. Without either, the service in this
 * folder is called with its key for commands.
 *
 * @throws InputError if there is no service, or no key for it
 */
export async function findService(options: RemoteOptions, config: Store = findStore()): Promise<Remote> {
  const { url, key = process.env['TAILRACE_KEY'] ?? '' } = options;
  if (url === undefined) {
    const service = await getLocalService(config, '; --url names one that runs elsewhere');
    return { ...service, ...(key !== '' && { key }) };
  }
  if (key === '') throw new InputError(['--url needs a key: give --key or set TAILRACE_KEY']);
  return { url, key };
}
