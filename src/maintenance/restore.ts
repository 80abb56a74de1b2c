import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Engine } from '../engine/engine.ts';
import { markRestoring, rejectOther, removeMark, writeStoreVersion } from '../engine/store-file.ts';
import { InputError } from '../errors.ts';
import { CONTROL_VERSION } from '../keys/database.ts';
import {
  checkFiles,
  copyFiles,
  EVENTS_FOLDER,
  type Manifest,
  readBackup,
  readManifest,
  startRestore,
  syncAll,
  untilWritten,
} from './backup.ts';

export interface RestoreOptions {
  /** Locked by this process. */
  readonly dataDir: string;
  /** Opens an engine on the data directory that reads backups below a folder; it is closed when the events are restored. */
  readonly openEngine: (backupDir: string) => Promise<Engine>;
  readonly signal: AbortSignal;
}

/**
 * What an empty data directory may have, which a restore does not touch: backups, the lock of this process, the
 * folder that mkfs creates, and hidden files. The directory may be its user's home (deploy/systemd), where this very
 * process keeps its compiled code.
 */
const isIgnored = (name: string) =>
  /^(?:\..*|backups|lock\.sqlite(?:-journal)?|owner\.txt|lost\+found)$/.test(name);

/** @throws InputError unless the data directory is empty */
export function rejectFilled(dataDir: string): void {
  const found = readdirSync(dataDir).filter((name) => !isIgnored(name));
  if (found.length === 0) return;
  throw new InputError([
    `data directory ${dataDir} is not empty ` +
      `(${found.slice(0, 3).join(', ')}${found.length > 3 ? ', …' : ''}); set TAILRACE_DATA_DIR to ` +
      'an empty folder: a restore overwrites nothing',
  ]);
}

/** Reads the manifest of a backup, and checks whatever can be checked before something is written. @throws InputError */
export async function checkBackup(dir: string): Promise<Manifest> {
  const manifest = readManifest(dir);
  const { store_version: store, control_version: control } = manifest;
  if (store !== null) rejectOther(`the event store of the backup ${dir}`, store);
  rejectOther(`the key store of the backup ${dir}`, control, CONTROL_VERSION);
  const files = await checkFiles(dir, manifest);
  if (store === null) return manifest;
  checkEvents(dir, files, manifest.base !== null);
  if (manifest.base === null) return manifest;
  const base = join(dirname(dir), manifest.base);
  checkEvents(base, await checkFiles(base, readManifest(base)), false);
  return manifest;
}

// Table names are those of sources; the engine percent-encodes other characters.
const PATH = /^(?!.*\.\.)[\w%.+-]+(?:\/[\w%.+-]+)*$/;
const PATHS = /<(?:name|data_file)>([^<]*)</g;
const QUOTED = /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"/gs;
// A table may keep its files on a disk that its definition describes, anywhere. Comments and heredocs would hide one
// behind a quote.
const FOREIGN = /\bdisk\b|\bstorage_policy\b|\/\*|--|[#$]/i;

/** Checks the engine's list of files and the definitions of tables, which the engine executes: it writes what they name. */
function checkEvents(dir: string, files: readonly string[], hasBase: boolean): void {
  const events = join(dir, EVENTS_FOLDER);
  const list = readFileSync(join(events, '.backup'), 'utf8');
  const faults = [...list.matchAll(PATHS)].map(([, path = '']) => path).filter((path) => !PATH.test(path));
  if (list.includes('<base_backup>') !== hasBase) faults.push('base_backup');
  const isDefinition = (path: string) => path.startsWith(`${EVENTS_FOLDER}/`) && path.endsWith('.sql');
  for (const path of files.filter(isDefinition)) {
    const text = readFileSync(join(dir, path), 'utf8');
    const isDatabase = /^CREATE DATABASE tailrace UUID '[\w-]+'\s+ENGINE = Atomic\s*$/.test(text);
    const rest = text.replaceAll(QUOTED, '');
    const isTable = /^CREATE TABLE .* ENGINE = MergeTree\b/s.test(rest) && !FOREIGN.test(rest);
    if (!isDatabase && !isTable) faults.push(path);
  }
  if (faults.length > 0)
    throw new InputError([
      `the backup is not one of Tailrace's: ${JSON.stringify(faults[0]?.slice(0, 100))} in ${events}; nothing was restored`,
    ]);
}

/**
 * Restores events and keys into an empty data directory. After a failure it is empty again; if the process is killed,
 * no service starts on it.
 * @param manifest of `checkBackup`
 * @returns the number of events
 * @throws InputError if the backup is damaged; failures of the disk and the engine
 */
export async function restoreBackup(
  dir: string,
  manifest: Manifest,
  options: RestoreOptions,
): Promise<number> {
  const { dataDir } = options;
  markRestoring(dataDir);
  try {
    const rows = manifest.store_version === null ? 0 : await restoreEvents(dir, manifest, options);
    copyFiles(dir, dataDir);
    for (const name of readdirSync(dataDir).filter((one) => !isIgnored(one)))
      await syncAll(join(dataDir, name));
    if (manifest.store_version === null) removeMark(dataDir);
    else writeStoreVersion(dataDir);
    return rows;
  } catch (error) {
    for (const name of readdirSync(dataDir).filter((one) => !isIgnored(one)))
      rmSync(join(dataDir, name), { recursive: true, force: true });
    throw error;
  }
}

async function restoreEvents(dir: string, { base }: Manifest, options: RestoreOptions): Promise<number> {
  const { openEngine, signal } = options;
  const above = dirname(dir);
  const engine = await openEngine(above);
  try {
    const baseDir = base === null ? undefined : join(above, base, EVENTS_FOLDER);
    const id = await startRestore(engine, join(dir, EVENTS_FOLDER), baseDir);
    await untilWritten(() => readBackup(engine, id), signal);
    const [row] = await engine.inspect(
      'SELECT sum(total_rows) AS rows FROM system.tables WHERE database = currentDatabase()',
    );
    return Number(row?.['rows'] ?? 0);
  } finally {
    await engine.close();
  }
}
