import { randomUUID } from 'node:crypto';
import { identifier, join, sql, trusted } from '../sql/sql.ts';
import { untilDeleted } from './deletions.ts';
import { DATABASE } from './embedded/sessions.ts';
import type { Engine } from './engine.ts';

/** The state of a backup or a restore by the engine. */
export interface BackupState {
  readonly isRunning: boolean;
  /** Why it failed; empty unless it did. */
  readonly error: string;
}

interface NewBackup {
  /** New folder below `EngineConfig.backupDir`. */
  readonly dir: string;
  /** Folder of an older backup, whose files are referred to. */
  readonly base: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Starts to write all tables, as they are once no deletion is unfinished, into a new folder.
 *
 * @returns for `readBackup`
 */
export async function startBackup(engine: Engine, { dir, base, signal }: NewBackup): Promise<string> {
  await untilDeleted(engine, signal);
  const id = randomUUID();
  const views = await engine.inspect(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View'",
  );
  // Of existing tables: the start creates them.
  const except = views.map(({ name }) => sql`${trusted(DATABASE)}.${identifier(String(name))}`);
  const what = except.length === 0 ? sql`` : sql` EXCEPT TABLES ${join(except, ', ')}`;
  const settings = base === undefined ? sql`` : sql`, base_backup = File(${base})`;
  await engine.inspect(
    sql`BACKUP DATABASE ${trusted(DATABASE)}${what} TO File(${dir}) SETTINGS id = ${id}${settings} ASYNC`,
  );
  return id;
}

/** Starts to restore all tables of a backup into an empty store. @returns for `readBackup` */
export async function startRestore(engine: Engine, dir: string, base?: string): Promise<string> {
  const id = randomUUID();
  const settings = base === undefined ? sql`` : sql`, base_backup = File(${base})`;
  await engine.inspect(
    sql`RESTORE DATABASE ${trusted(DATABASE)} FROM File(${dir}) SETTINGS id = ${id}${settings} ASYNC`,
  );
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

// Of the backup's folder, in which the engine writes one of its own.
const OUTSIDE = /Path '(.*)\/[^/]*' is not allowed for backups/;
