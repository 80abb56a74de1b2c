import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { findFolders } from '../../definitions/folders.ts';
import { hasEmbeddedStore } from '../../engine/embedded/sessions.ts';
import { checkStoreVersion } from '../../engine/store-file.ts';
import { lockStore } from '../../engine/store-lock.ts';
import { InputError, messageOf, StoppedError } from '../../errors.ts';
import { OutsideError } from '../../lib/below.ts';
import { type BackupDone, type BackupSource, createBackup } from '../../maintenance/backup/create-backup.ts';
import { CONTROL_FILE } from '../../maintenance/backup/key-files.ts';
import {
  createSnapshot,
  removeLeftSnapshots,
  removeSnapshot,
  type Snapshot,
} from '../../maintenance/backup/snapshot.ts';
import { openTarget } from '../../maintenance/backup/target.ts';
import { type RunningCommand, sendCommand } from '../../maintenance/socket/client.ts';
import type { ServiceDescription } from '../../maintenance/socket/commands.ts';
import { COMMANDS } from '../../maintenance/socket/protocol.ts';
import { openEngine } from '../../service/open-engine.ts';
import { ownerName, stopSignal } from '../environment.ts';
import { readStoreConfig } from '../find-store.ts';
import { formatBytes, formatCounted } from '../format.ts';
import { createByteProgress } from '../progress.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .description(
      'Back up events, keys and definitions into an empty folder, beside a running service or without one.',
    )
    .argument('<dir>', 'folder of the backup; created if missing')
    .option('--base <dir>', 'an older backup: unchanged files become links to it')
    .action(backup);
}

interface Opened extends BackupSource {
  /** Aborts if the service ends while its snapshot is copied. */
  readonly failed: AbortSignal;
  close(): Promise<void>;
}

async function backup(dir: string, { base }: { base?: string }): Promise<void> {
  const config = readStoreConfig();
  refuseEmpty(config);
  const target = openTarget(dir, config.dataDir);
  const stop = stopSignal();
  const progress = createByteProgress('backup');
  let source: Opened | undefined;
  try {
    source = await openSource(config);
    const done = await createBackup(source, {
      ...{ target, base, now: Date.now, signal: AbortSignal.any([stop, source.failed]) },
      onProgress: progress.onProgress,
    });
    target.release();
    report(dir, done, source.hasKeys);
  } catch (error) {
    target.empty();
    if (stop.aborted) throw new StoppedError(`stopped by ${stop.reason}; ${dir} is empty again`);
    throw source?.failed.aborted ? source.failed.reason : explain(error, dir);
  } finally {
    progress.stop();
    await source?.close();
  }
}

/** Rejects a data directory without data: its name is probably mistyped. */
function refuseEmpty({ dataDir, clickhouseUrl }: Config): void {
  if (hasEmbeddedStore(dataDir) || existsSync(join(dataDir, CONTROL_FILE))) return;
  if (clickhouseUrl !== '' && existsSync(dataDir)) return;
  throw new InputError([
    `data directory ${dataDir} has neither events nor keys; set TAILRACE_DATA_DIR to the service's directory`,
  ]);
}

/** Opens the source: the service that owns the store creates the snapshot; without a service this process does. */
async function openSource(config: Config): Promise<Opened> {
  const { dataDir, controlUrl } = config;
  const running = await sendCommand(dataDir, COMMANDS.describe, {});
  const described =
    running === undefined
      ? { ...findFolders(config), hasKeys: controlUrl === '' }
      : ((await running.finish(() => {})) as ServiceDescription); // returned by createCommands
  const common = {
    dataDir,
    definitions: {
      ...{ endpoints: described.endpointsDir, sources: described.sourcesDir },
      ...(described.alertsDir !== undefined && { alerts: described.alertsDir }),
      ...(described.dashboardsDir !== undefined && { dashboards: described.dashboardsDir }),
    },
    hasKeys: described.hasKeys,
  };
  if (config.clickhouseUrl !== '')
    return { ...common, ...NEVER_FAILS, snapshot: async () => undefined, close: async () => {} };
  if (running === undefined) return { ...common, ...(await openOwn(config)) };
  return { ...common, ...fromService(dataDir) };
}

const NEVER_FAILS = { failed: new AbortController().signal };

type Snapshots = Pick<Opened, 'snapshot' | 'failed' | 'close'>;

/** Snapshots of the service, which keeps one as long as this process is connected. */
function fromService(dataDir: string): Snapshots {
  const ended = new AbortController();
  let running: RunningCommand | undefined;
  return {
    failed: ended.signal,
    async snapshot() {
      running = await sendCommand(dataDir, COMMANDS.snapshot, {});
      if (running === undefined) throw new InputError(['the service has stopped; run the command again']);
      const taken = Promise.withResolvers<Snapshot>();
      running
        .finish((progress) => taken.resolve(progress as Snapshot))
        .catch((error) => {
          taken.reject(error);
          ended.abort(error);
        });
      return await taken.promise;
    },
    close: async () => running?.hangUp(),
  };
}

async function openOwn(config: Config): Promise<Snapshots> {
  const { dataDir } = config;
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(lockStore(dataDir, ownerName('backup')).release);
  checkStoreVersion(dataDir);
  const engine = await openEngine(config);
  cleanup.defer(engine.close);
  const id = randomUUID();
  cleanup.defer(() => removeSnapshot(dataDir, id));
  await removeLeftSnapshots(dataDir);
  const snapshot = () => createSnapshot(engine, id);
  const closing = cleanup.move();
  return { ...NEVER_FAILS, snapshot, close: () => closing.disposeAsync() };
}

function report(
  dir: string,
  { manifest, rows, copiedBytes, linkedBytes }: BackupDone,
  hasKeys: boolean,
): void {
  const others = hasKeys ? 'the keys and definitions' : 'the definitions';
  const linked = linkedBytes === 0 ? '' : `, ${formatBytes(linkedBytes)} linked`;
  process.stdout.write(
    manifest.store_version === null
      ? `${dir} has ${others}. The events are on the ClickHouse server: back them up with its BACKUP statement.\n`
      : `${dir} has ${formatCounted(rows, 'event')} (${formatBytes(copiedBytes)} copied${linked}), ${others}.\n`,
  );
  if (!hasKeys)
    process.stdout.write(
      'The keys are in PostgreSQL (TAILRACE_CONTROL_URL), not in this backup: use pg_dump.\n',
    );
}

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'EPERM']);

const SQLITE_FULL = 13;

/** Turns what the disk rejects into a fault of the named folder. */
function explain(error: unknown, dir: string): unknown {
  if (error instanceof OutsideError)
    return new InputError([`a definition cannot be backed up: ${error.message}`], { cause: error });
  const { code, errcode } = error as NodeJS.ErrnoException & { errcode?: unknown }; // SQLite's errors have the latter
  if (!FULL.has(code) && errcode !== SQLITE_FULL) return error;
  return new InputError([`${dir} cannot hold the backup, and is empty again: ${messageOf(error)}`], {
    cause: error,
  });
}
