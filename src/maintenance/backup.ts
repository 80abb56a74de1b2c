import { createHash, randomUUID } from 'node:crypto';
import { cpSync, createReadStream, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { Type } from 'typebox';
import { DATABASE } from '../engine/embedded/sessions.ts';
import type { Engine } from '../engine/engine.ts';
import { untilDeleted } from '../engine/mutations.ts';
import { STORE_VERSION } from '../engine/store-file.ts';
import { InputError, messageOf } from '../errors.ts';
import { CONTROL_VERSION } from '../keys/database.ts';
import { SQLITE_FILE } from '../keys/sqlite-store.ts';
import { SECRET_FILE } from '../keys/token.ts';
import { makeFolder, makePrivateFile, replaceFile, syncFile, syncFolder } from '../lib/file.ts';
import { compileSchema } from '../lib/schema-check.ts';
import { identifier, join as joinSql, type Sql, sql, trusted } from '../sql/sql.ts';
import { readVersion } from '../version.ts';

/** In the folder of a backup: what the engine has written. */
export const EVENTS_FOLDER = 'events';
/** Written last: a backup without it is incomplete. */
const MANIFEST_FILE = 'manifest.json';
const BACKUP_FORMAT = 2;
/** What a backup copies from the data directory besides events: keys, the secret of tokens, what the workbench has saved. */
const COPIED = [SQLITE_FILE, SECRET_FILE, 'definitions'];

const MANIFEST = Type.Object({
  format: Type.Literal(BACKUP_FORMAT),
  tailrace: Type.String(),
  created_at: Type.String(),
  /** The layout of the events: engine/store-file.ts. Null: the events are on a ClickHouse server, not in the backup. */
  store_version: Type.Union([Type.Integer(), Type.Null()]),
  /** The layout of the keys: keys/database.ts. */
  control_version: Type.Integer(),
  /** Name of the older backup beside it that has the files which this one only refers to; null for a full backup. */
  base: Type.Union([Type.String({ pattern: '^[^/\\\\]+$' }), Type.Null()]),
  /** SHA-256 of each file, by its path. */
  files: Type.Record(Type.String(), Type.String()),
});
export type Manifest = Type.Static<typeof MANIFEST>;

export interface BackupOptions {
  readonly dataDir: string;
  /** Absolute path of the new folder. */
  readonly dir: string;
  /** Absolute path of a full backup beside it. */
  readonly base: string | undefined;
  /** Has the engine write the events; `undefined` if they are on a server. */
  readonly writeEvents: ((dir: string, base: string | undefined) => Promise<void>) | undefined;
}

/**
 * Writes a backup: every event that was acknowledged before it began, then the keys. After a failure its folder is removed.
 * @throws InputError if the folder or the base cannot be used; failures of the disk and the engine
 */
export async function createBackup({ dataDir, dir, base, writeEvents }: BackupOptions): Promise<void> {
  checkBase(dir, base);
  const createdAt = new Date().toISOString();
  makeTarget(dir);
  try {
    await writeEvents?.(join(dir, EVENTS_FOLDER), base && join(base, EVENTS_FOLDER));
    for (const name of COPIED.filter((one) => existsSync(join(dataDir, one)))) {
      if (name === SQLITE_FILE) await copyDatabase(join(dataDir, name), join(dir, name));
      else cpSync(join(dataDir, name), join(dir, name), { recursive: true, dereference: true });
    }
    await syncAll(dir);
    const manifest: Manifest = {
      ...{ format: BACKUP_FORMAT, tailrace: readVersion(), created_at: createdAt },
      store_version: writeEvents === undefined ? null : STORE_VERSION,
      control_version: CONTROL_VERSION,
      base: base === undefined ? null : basename(base),
      files: Object.fromEntries(await hashFiles(dir)),
    };
    replaceFile(join(dir, MANIFEST_FILE), `${JSON.stringify(manifest, undefined, 1)}\n`);
    syncFolder(dirname(dir));
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

/** @throws InputError unless it is a full backup beside the new one: an engine that restores reads both below one folder */
function checkBase(dir: string, base: string | undefined): void {
  if (base === undefined) return;
  if (dirname(base) !== dirname(dir))
    throw new InputError([`--base: ${base} is not in ${dirname(dir)}, beside the new backup`]);
  if (readManifest(base).base !== null)
    throw new InputError([`--base: ${base} is itself one with --base; name a full backup`]);
}

function makeTarget(dir: string): void {
  try {
    makeFolder(dirname(dir), 0o700);
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    const why = isThere ? 'it exists; name a new folder for each backup' : messageOf(error);
    throw new InputError([`${dir} cannot hold a backup: ${why}`], { cause: error });
  }
}

/** Copies a database with SQLite's own backup, while other processes may write to it. */
async function copyDatabase(from: string, to: string): Promise<void> {
  makePrivateFile(to);
  const database = new DatabaseSync(from);
  try {
    database.exec('PRAGMA busy_timeout = 10000');
    await backup(database, to, { rate: 1e9 }); // all pages at once: it would start again after each write between two steps
  } finally {
    database.close();
  }
}

/** The state of a backup or a restore by the engine. */
export interface BackupState {
  readonly isRunning: boolean;
  /** Why it failed; empty unless it did. */
  readonly error: string;
}

/**
 * Starts to write all tables, as they are once no deletion is unfinished, into a new folder.
 * @param backup a folder below `EngineConfig.backupDir`, and that of an older backup, to whose files it refers
 * @returns for `readBackup`
 */
export async function startBackup(
  engine: Engine,
  { dir, base, signal }: Pick<BackupOptions, 'dir' | 'base'> & { readonly signal: AbortSignal },
): Promise<string> {
  await untilDeleted(engine, signal);
  const views = await engine.inspect(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View'",
  );
  // Views of existing tables are left out: the start creates them.
  const except = views.map(({ name }) => sql`${trusted(DATABASE)}.${identifier(String(name))}`);
  const what = except.length === 0 ? sql`` : sql` EXCEPT TABLES ${joinSql(except, ', ')}`;
  return await startCopy(engine, sql`BACKUP DATABASE ${trusted(DATABASE)}${what} TO File(${dir})`, base);
}

/** Starts to restore all tables of a backup into an empty store. @returns for `readBackup` */
export async function startRestore(engine: Engine, dir: string, base?: string): Promise<string> {
  return await startCopy(engine, sql`RESTORE DATABASE ${trusted(DATABASE)} FROM File(${dir})`, base);
}

async function startCopy(engine: Engine, statement: Sql, base: string | undefined): Promise<string> {
  const id = randomUUID();
  const ofBase = base === undefined ? sql`` : sql`, base_backup = File(${base})`;
  await engine.inspect(sql`${statement} SETTINGS id = ${id}${ofBase} ASYNC`);
  return id;
}

/** Reads the state of a backup or a restore. One that a crash of the engine has ended has failed. */
export async function readBackup(engine: Engine, id: string): Promise<BackupState> {
  const [row] = await engine.inspect(sql`SELECT status, error FROM system.backups WHERE id = ${id}`);
  const status = String(row?.['status'] ?? 'LOST');
  const isRunning = status === 'CREATING_BACKUP' || status === 'RESTORING';
  if (isRunning || status === 'BACKUP_CREATED' || status === 'RESTORED') return { isRunning, error: '' };
  const [first = ''] = String(row?.['error'] ?? 'the engine has ended').split(', Stack trace');
  const [, outside] = OUTSIDE.exec(first) ?? [];
  const error = outside === undefined ? first : `${outside} is not below TAILRACE_BACKUP_DIR of the service`;
  return { isRunning, error };
}

// Finds the backup's folder, in which the engine writes a folder of its own.
const OUTSIDE = /Path '(.*)\/[^/]*' is not allowed for backups/;

/** Waits until the engine has written or restored a backup. @throws InputError with the engine's reason if it cannot */
export async function untilWritten(read: () => Promise<BackupState>, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const { isRunning, error } = await read();
    if (error !== '') throw new InputError([error]);
    if (!isRunning) return;
    await wait(POLL_EVERY_MS, undefined, { signal });
  }
}

/**
 * As `untilWritten`, by the engine of a service, which goes on when `signal` aborts: it would write the rest of the
 * backup into the folder that has been removed, so this waits for its end before it rejects.
 */
export async function untilServiceHasWritten(
  read: () => Promise<BackupState>,
  signal: AbortSignal,
): Promise<void> {
  await untilWritten(read);
  signal.throwIfAborted();
}

const POLL_EVERY_MS = 100;

/** Syncs a file, or a folder and all that is in it: the engine does not. */
export async function syncAll(dir: string): Promise<void> {
  if (!statSync(dir).isDirectory()) return await syncFile(dir);
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) syncFolder(path);
    else await syncFile(path);
  }
  syncFolder(dir);
}

/** @returns path → SHA-256, without the manifest. @throws InputError if something is not a file or folder, such as a link */
async function hashFiles(dir: string): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const path of await readdir(dir, { recursive: true })) {
    const stats = await lstat(join(dir, path));
    if (stats.isDirectory()) continue;
    if (!stats.isFile()) throw new InputError([`${join(dir, path)} is not a file: no backup has a link`]);
    if (path === MANIFEST_FILE) continue;
    const sha256 = createHash('sha256');
    await pipeline(createReadStream(join(dir, path)), sha256);
    hashes.set(path, sha256.digest('hex'));
  }
  return hashes;
}

/** @throws InputError if the folder holds no backup, an unfinished one, or one of another version */
export function readManifest(dir: string): Manifest {
  const file = join(dir, MANIFEST_FILE);
  const isManifest = compileSchema(MANIFEST);
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const why = existsSync(file)
      ? messageOf(error)
      : 'it is not there, so this is no backup or an unfinished one';
    throw new InputError([`${file} cannot be read: ${why}`], { cause: error });
  }
  if (isManifest(manifest)) return manifest;
  throw new InputError([`${file} is not the manifest of a backup of format ${BACKUP_FORMAT}`]);
}

/**
 * Checks every file of a backup.
 * @returns their paths
 * @throws InputError if one is missing, differs or is foreign
 */
export async function checkFiles(dir: string, manifest: Manifest): Promise<string[]> {
  const files = new Map(Object.entries(manifest.files));
  const found = await hashFiles(dir);
  const isKnown = (path: string) => [EVENTS_FOLDER, ...COPIED].includes(path.split('/')[0] ?? '');
  for (const path of new Set([...files.keys(), ...found.keys()]))
    if (found.get(path) !== files.get(path) || !isKnown(path))
      throw new InputError([
        `the backup is damaged: ${join(dir, path)} is missing or differs from the manifest; nothing was restored`,
      ]);
  return [...found.keys()];
}

/** Copies the files that `checkFiles` has found good. */
export function copyFiles(dir: string, dataDir: string): void {
  for (const name of COPIED.filter((one) => existsSync(join(dir, one))))
    cpSync(join(dir, name), join(dataDir, name), { recursive: true });
}
