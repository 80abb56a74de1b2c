import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../../engine/engine.ts';
import { markRestoring, rejectOther, writeStoreVersion } from '../../engine/store-file.ts';
import { InputError, messageOf } from '../../errors.ts';
import { CONTROL_VERSION } from '../../keys/schema.ts';
import { findBelow, OutsideError } from '../../lib/below.ts';
import { identifier, sql, trusted } from '../../sql/sql.ts';
import { EVENTS_FOLDER } from './create-backup.ts';
import { type CopyOptions, copyFile, copyPart, countBytes, describeFile } from './files.ts';
import { KEY_FILES } from './key-files.ts';
import { damaged, type Manifest, type ManifestTable, readManifest, sumRows } from './manifest.ts';

export interface RestoreOptions {
  /** Locked by this process. */
  readonly dataDir: string;
  /** Opens an engine on the data directory; it is closed when the events are restored. */
  readonly openEngine: () => Promise<Engine>;
  readonly signal: AbortSignal;
  readonly onProgress: (bytes: number, total: number) => void;
}

/**
 * Whether an empty data directory may have a file, which a restore does not touch: the lock of this process, the folder that mkfs creates,
 * and hidden files. The directory may be its user's home (deploy/systemd), where this very process keeps its compiled code.
 */
const isIgnored = (name: string) => /^(?:\..*|lock\.sqlite(?:-journal)?|owner\.txt|lost\+found)$/.test(name);
const DEFINITIONS = /^definitions\//;

/** Reads the manifest of a backup. @throws InputError if this version cannot restore it */
export function readBackup(dir: string): Manifest {
  const manifest = readManifest(dir);
  const of = `of the backup ${dir}, written by Tailrace ${manifest.tailrace},`;
  const { store_version: store, control_version: control } = manifest;
  if (store !== null) rejectOther(`the event store ${of}`, store);
  if (control !== null) rejectOther(`the key store ${of}`, control, CONTROL_VERSION);
  return manifest;
}

/** @throws InputError unless the data directory is empty */
export function refuseFilled(dataDir: string): void {
  const found = readdirSync(dataDir).filter((name) => !isIgnored(name));
  if (found.length === 0) return;
  throw new InputError([
    `data directory ${dataDir} is not empty (${found.slice(0, 3).join(', ')}${found.length > 3 ? ', …' : ''}); set TAILRACE_DATA_DIR to an empty folder: a restore overwrites nothing`,
  ]);
}

/**
 * Restores events and keys into an empty data directory. Each file is compared with the manifest while it is copied, the rows of
 * each table at the end. After a failure the directory is empty again; if the process is killed, no service starts on it.
 *
 * @throws InputError if the backup differs from its manifest; errors of the disk and the engine
 */
export async function restoreBackup(dir: string, manifest: Manifest, options: RestoreOptions): Promise<void> {
  const { dataDir, signal } = options;
  await checkFiles(dir, manifest);
  markRestoring(dataDir);
  try {
    await restoreEvents(dir, manifest, options);
    for (const file of manifest.files.filter(({ path }) => !DEFINITIONS.test(path))) {
      const source = await findInBackup(dir, file.path);
      const copied = await read(async () =>
        copyFile(source, await findBelow(dataDir, file.path), { signal }),
      );
      if (copied.sha256 !== file.sha256) throw damaged(source);
    }
    writeStoreVersion(dataDir);
  } catch (error) {
    for (const name of readdirSync(dataDir).filter((one) => !isIgnored(one)))
      rmSync(join(dataDir, name), { recursive: true, force: true });
    throw error;
  }
}

/** Checks the definitions before anything is written; restoreDefinitions copies them later. Other files are those of keys. */
async function checkFiles(dir: string, { files }: Manifest): Promise<void> {
  const foreign = files.find(({ path }) => !DEFINITIONS.test(path) && !KEY_FILES.has(path));
  if (foreign !== undefined)
    throw new InputError([
      `the backup is not one of Tailrace's: its manifest lists ${JSON.stringify(foreign.path.slice(0, 100))}, which no backup has; nothing was restored`,
    ]);
  for (const { path, sha256 } of files.filter((file) => DEFINITIONS.test(file.path))) {
    const source = await findInBackup(dir, path);
    const found = await read(() => describeFile(source));
    if (found.sha256 !== sha256) throw damaged(source);
  }
}

async function restoreEvents(dir: string, manifest: Manifest, options: RestoreOptions): Promise<void> {
  const { tables } = manifest;
  if (manifest.store_version === null) return;
  const { onProgress, signal } = options;
  const total = tables.flatMap(({ parts }) => parts).reduce((sum, { bytes }) => sum + bytes, 0);
  const copying: CopyOptions = { signal, onBytes: countBytes(total, onProgress) };
  const engine = await options.openEngine();
  try {
    for (const table of tables)
      await restoreTable(engine, await findInBackup(dir, join(EVENTS_FOLDER, table.name)), {
        table,
        copying,
      });
  } finally {
    await engine.close();
  }
}

async function restoreTable(
  engine: Engine,
  from: string,
  { table, copying }: { table: ManifestTable; copying: CopyOptions },
): Promise<void> {
  const { name } = table;
  await engine.command(trusted(table.definition));
  // Otherwise the engine could delete old events while they are counted. The next start sets the TTL again.
  if (/ ENGINE = .* TTL /s.test(table.definition))
    await engine.command(sql`ALTER TABLE ${identifier(name)} REMOVE TTL`);
  const [found] = await engine.inspect(
    sql`SELECT data_paths[1] AS path FROM system.tables WHERE database = currentDatabase() AND name = ${name}`,
  );
  for (const part of table.parts) {
    const source = await findInBackup(from, part.name);
    const target = await findBelow(String(found?.['path']), join('detached', part.name));
    const copied = await read(() => copyPart(source, target, copying));
    if (copied.sha256 !== part.sha256) throw damaged(source);
    await engine.command(sql`ALTER TABLE ${identifier(name)} ATTACH PART ${part.name}`);
  }
  const [counted] = await engine.inspect(sql`SELECT count() AS rows FROM ${identifier(name)}`);
  const [rows, wanted] = [Number(counted?.['rows']), sumRows(table)];
  if (rows !== wanted)
    throw new InputError([
      `${from} gave ${rows} rows, and its manifest lists ${wanted}; nothing was restored`,
    ]);
}

/** Resolves a path of the manifest in the backup. @throws InputError if it leads out of it, as by a link */
const findInBackup = (dir: string, path: string) => read(() => findBelow(dir, path));

/** Reports a missing or unreadable file, or one outside of the backup, as a fault of the backup. */
async function read<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OutsideError)
      throw new InputError([`the backup is not one of Tailrace's: ${error.message}; nothing was restored`], {
        cause: error,
      });
    const { code, path } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EIO' && code !== 'ENOTDIR') throw error;
    throw new InputError(
      [`the backup is incomplete: ${path} cannot be read: ${messageOf(error)}; nothing was restored`],
      { cause: error },
    );
  }
}
