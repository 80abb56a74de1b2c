import { resolve } from 'node:path';
import { Command } from 'commander';
import { lockStore } from '../../engine/store-lock.ts';
import { InputError, StoppedError } from '../../errors.ts';
import { checkBackup, refuseFilled, restoreBackup } from '../../maintenance/restore.ts';
import { openEngine } from '../../service/open-core.ts';
import { ownerName, stopSignal } from '../environment.ts';
import { readStoreConfig } from '../find-store.ts';
import { formatCounted } from '../format.ts';

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
    refuseFilled(dataDir);
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
