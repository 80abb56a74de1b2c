import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { findFolders, OWN_ALERTS_DIR, OWN_DASHBOARDS_DIR, OWN_FOLDERS } from '../../definitions/folders.ts';
import { lockStore } from '../../engine/store-lock.ts';
import { InputError, messageOf, StoppedError } from '../../errors.ts';
import {
  type DefinitionTargets,
  type RestoredDefinitions,
  restoreDefinitions,
} from '../../maintenance/backup/definitions.ts';
import { type Manifest, sumRows } from '../../maintenance/backup/manifest.ts';
import { readBackup, refuseFilled, restoreBackup } from '../../maintenance/backup/restore.ts';
import { openEngine } from '../../service/open-engine.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';
import { formatCounted } from '../format.ts';
import { createByteProgress } from '../progress.ts';

export function restoreCommand(): Command {
  return new Command('restore')
    .description(
      'Restore a backup into an empty data directory, and its definitions into folders that are missing or empty.',
    )
    .argument('<dir>', 'folder of the backup')
    .action(restore);
}

async function restore(dir: string): Promise<void> {
  const config = readConfig();
  const manifest = readBackup(dir);
  if (config.clickhouseUrl !== '' && manifest.store_version !== null)
    throw new InputError([
      'CLICKHOUSE_URL is set, and the events of this backup are those of a data directory: unset it for this command, then copy them to the server with "tailrace copy --to"',
    ]);
  const { dataDir } = config;
  const { release } = lockStore(dataDir, ownerName('restore'));
  const progress = createByteProgress('restore');
  const stop = stopSignal();
  try {
    refuseFilled(dataDir);
    await restoreBackup(dir, manifest, {
      dataDir,
      openEngine: () => openEngine(config),
      signal: stop,
      onProgress: progress.onProgress,
    });
  } catch (error) {
    if (stop.aborted) throw new StoppedError(`stopped by ${stop.reason}; ${dataDir} is empty again`);
    throw error;
  } finally {
    progress.stop();
    release();
  }
  const definitions = await restoreDefinitions(dir, manifest, findDirs(config));
  const failed = definitions.filter(({ state }) => state === 'failed');
  report(
    config,
    manifest,
    definitions.filter((one) => !failed.includes(one)),
  );
  if (failed.length > 0)
    throw new InputError(
      failed.map(
        (one) =>
          `${one.dir} cannot be written: ${messageOf(one.cause)}; the data directory is restored: as a user who may write there, copy ${one.from} there`,
      ),
    );
}

function findDirs(config: Config): DefinitionTargets {
  const used = findFolders(config);
  const isShipped = (kind: 'endpointsDir' | 'sourcesDir') => used.shipped.includes(kind);
  return {
    endpoints: config.endpointsDir || OWN_FOLDERS.endpointsDir,
    sources: config.sourcesDir || OWN_FOLDERS.sourcesDir,
    alerts: config.alertsDir || OWN_ALERTS_DIR,
    dashboards: config.dashboardsDir || OWN_DASHBOARDS_DIR,
    shipped: {
      ...(isShipped('endpointsDir') && { endpoints: used.endpointsDir }),
      ...(isShipped('sourcesDir') && { sources: used.sourcesDir }),
      ...(isShipped('endpointsDir') &&
        used.dashboardsDir !== undefined && { dashboards: used.dashboardsDir }),
    },
  };
}

function report(
  { dataDir, controlUrl }: Config,
  manifest: Manifest,
  definitions: readonly RestoredDefinitions[],
): void {
  const { tables, store_version: store, control_version: control, created_at: at } = manifest;
  const rows = tables.reduce((sum, table) => sum + sumRows(table), 0);
  const events = store === null ? 'no events: they are on a ClickHouse server' : formatCounted(rows, 'event');
  const keys = control === null ? 'no keys: they were in PostgreSQL, or there were none' : 'the keys';
  const lines = [`${dataDir} has the state of ${at}: ${events}; ${keys}.`, ...definitions.map(describe)];
  if (control !== null && controlUrl !== '')
    lines.push(`TAILRACE_CONTROL_URL is set: "tailrace keys copy --from ${dataDir}" copies the keys there.`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

const NAMED_MAX = 5;

function describe({ dir, from, state, differing }: RestoredDefinitions): string {
  if (state === 'restored') return `${dir}: restored.`;
  if (state === 'same') return `${dir}: equals the backup.`;
  if (state === 'none') return `${dir}: not in the backup.`;
  const more = differing.length > NAMED_MAX ? `, and ${differing.length - NAMED_MAX} more` : '';
  return `${dir}: not changed; ${differing.slice(0, NAMED_MAX).join(', ')}${more} of ${from} are missing there or differ.`;
}
