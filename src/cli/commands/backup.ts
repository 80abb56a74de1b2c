import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { hasEmbeddedStore } from '../../engine/embedded/sessions.ts';
import { checkStoreVersion, lockStore } from '../../engine/store-file.ts';
import { InputError, StoppedError } from '../../errors.ts';
import { SQLITE_FILE } from '../../keys/sqlite-store.ts';
import {
  type BackupOptions,
  type BackupState,
  createBackup,
  readBackup,
  startBackup,
  untilServiceHasWritten,
  untilWritten,
} from '../../maintenance/backup.ts';
import { checkBackup, rejectFilled, restoreBackup } from '../../maintenance/restore.ts';
import { findBackupDir, openEngine } from '../../service/open-core.ts';
import { ownerName, stopSignal } from '../environment.ts';
import { formatCounted } from '../format.ts';
import { findLocalService, readStoreConfig } from '../local-service.ts';
import { callRemote } from '../remote.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .description('Back up events and keys into a new folder, beside a running service or without one.')
    .argument('<dir>', 'new folder in TAILRACE_BACKUP_DIR; without a running service anywhere')
    .option('--base <dir>', 'a full backup beside it, to whose unchanged files the new one refers')
    .action(backup);
}

async function backup(dir: string, options: { base?: string }): Promise<void> {
  const config = readStoreConfig();
  const { dataDir, clickhouseUrl, controlUrl } = config;
  rejectEmpty(config);
  const stop = stopSignal();
  const target = resolve(findBackupDir(config), dir);
  const base = options.base === undefined ? undefined : resolve(findBackupDir(config), options.base);
  const writeEvents: BackupOptions['writeEvents'] = (to, from) => backUpEvents(config, { to, from, stop });
  const hasEvents = clickhouseUrl === '';
  try {
    await createBackup({ dataDir, dir: target, base, writeEvents: hasEvents ? writeEvents : undefined });
  } catch (error) {
    if (stop.aborted) throw new StoppedError(`stopped by ${stop.reason}; ${target} is removed`);
    throw error;
  }
  const lines = [
    hasEvents
      ? `${target} has the events and the keys.`
      : `${target} has the keys. The events are on the ClickHouse server: back them up with its BACKUP statement.`,
  ];
  if (controlUrl !== '')
    lines.push('The keys are in PostgreSQL (TAILRACE_CONTROL_URL), not in this backup: use pg_dump.');
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Rejects a data directory without data: its name is probably mistyped. */
function rejectEmpty({ dataDir, clickhouseUrl }: Config): void {
  if (hasEmbeddedStore(dataDir) || existsSync(join(dataDir, SQLITE_FILE))) return;
  if (clickhouseUrl !== '' && existsSync(dataDir)) return;
  throw new InputError([
    `data directory ${dataDir} has neither events nor keys; set TAILRACE_DATA_DIR to the service's directory`,
  ]);
}

interface Copied {
  readonly to: string;
  readonly from: string | undefined;
  readonly stop: AbortSignal;
}

/** Has the service that owns the store write the events; without a service this process does. */
async function backUpEvents(config: Config, { to, from, stop }: Copied): Promise<void> {
  const service = findLocalService(config);
  if (service !== undefined) {
    const body = { dir: to, ...(from !== undefined && { base: from }) };
    const { id } = (await callRemote(service, '/api/local/backups', { body, signal: stop })) as {
      id: string;
    };
    return await untilServiceHasWritten(
      async () => (await callRemote(service, `/api/local/backups/${id}`)) as BackupState,
      stop,
    );
  }
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(lockStore(config.dataDir, ownerName('backup')).release);
  checkStoreVersion(config.dataDir);
  const engine = await openEngine({ ...config, backupDir: dirname(dirname(to)) });
  cleanup.defer(engine.close);
  const id = await startBackup(engine, { dir: to, base: from, signal: stop });
  await untilWritten(() => readBackup(engine, id), stop);
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description('Restore a backup into an empty data directory.')
    .argument('<dir>', 'folder of the backup, in TAILRACE_BACKUP_DIR if that is set')
    .action(restore);
}

async function restore(dir: string): Promise<void> {
  const config = readStoreConfig();
  const { dataDir, backupDir, clickhouseUrl, controlUrl } = config;
  const from = resolve(backupDir, dir);
  const manifest = await checkBackup(from);
  if (clickhouseUrl !== '' && manifest.store_version !== null)
    throw new InputError([
      'CLICKHOUSE_URL is set, and the events of this backup are those of a data directory: unset ' +
        'it for this command, then copy them to the server with "tailrace copy --to"',
    ]);
  const { release } = lockStore(dataDir, ownerName('restore'));
  const stop = stopSignal();
  try {
    rejectFilled(dataDir);
    const rows = await restoreBackup(from, manifest, {
      ...{ dataDir, signal: stop },
      openEngine: (above) => openEngine({ ...config, backupDir: above }),
    });
    const events = manifest.store_version === null ? 'no events' : formatCounted(rows, 'event');
    process.stdout.write(`${dataDir} has the state of ${manifest.created_at}: ${events}, and the keys.\n`);
    if (controlUrl !== '')
      process.stdout.write('TAILRACE_CONTROL_URL is set: "tailrace copy" copies the keys there.\n');
  } catch (error) {
    if (stop.aborted) throw new StoppedError(`stopped by ${stop.reason}; ${dataDir} is empty again`);
    throw error;
  } finally {
    release();
  }
}
