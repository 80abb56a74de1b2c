import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { SQLITE_FILE } from '../../keys/sqlite-store.ts';
import { SECRET_FILE } from '../../keys/token.ts';
import { makePrivateFile, syncFile } from '../../lib/file.ts';
import { type CopyOptions, copyFile, describeFile } from './files.ts';
import type { ManifestFile } from './manifest.ts';

export const CONTROL_FILE = SQLITE_FILE;

/** The files of the data directory, besides events, that a backup may have. */
export const KEY_FILES: ReadonlySet<string> = new Set([CONTROL_FILE, SECRET_FILE]);

/** Copies the keys, their audit trail, and the secret that signs tokens. */
export async function copyKeys(
  dataDir: string,
  target: string,
  options: CopyOptions,
): Promise<ManifestFile[]> {
  const files = await copyDatabase(dataDir, target, CONTROL_FILE);
  const secret = join(dataDir, SECRET_FILE);
  if (!existsSync(secret)) return files;
  return [...files, { path: SECRET_FILE, ...(await copyFile(secret, join(target, SECRET_FILE), options)) }];
}

// The offset of `PRAGMA user_version` in SQLite's file format: four bytes, big-endian.
const USER_VERSION_AT = 60;

/** Reads the version of a control store without opening it, which would create files beside it. */
export async function readControlVersion(file: string): Promise<number> {
  return (await readFile(file)).readUInt32BE(USER_VERSION_AT);
}

/** Copies a database with SQLite's own backup, while other processes may write to it. */
async function copyDatabase(dataDir: string, target: string, name: string): Promise<ManifestFile[]> {
  const from = join(dataDir, name);
  const to = join(target, name);
  if (!existsSync(from)) return [];
  makePrivateFile(to);
  const database = new DatabaseSync(from);
  try {
    database.exec('PRAGMA busy_timeout = 10000');
    await backup(database, to);
  } finally {
    database.close();
  }
  await syncFile(to);
  return [{ path: name, ...(await describeFile(to)) }];
}
