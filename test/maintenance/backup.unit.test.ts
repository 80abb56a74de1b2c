import { expect, test } from 'vitest';
import { type BackupState, readBackup } from '../../src/engine/backup.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { untilServiceHasWritten } from '../../src/maintenance/backup.ts';

test('a command that is stopped waits for the engine of the service, which goes on to write into its folder', async () => {
  const stop = new AbortController();
  const states: BackupState[] = [
    { isRunning: true, error: '' },
    { isRunning: true, error: '' },
    { isRunning: false, error: '' },
  ];
  let reads = 0;
  const read = async () => {
    stop.abort('SIGTERM');
    return states[reads++] ?? { isRunning: false, error: 'read after the end' };
  };
  await expect(untilServiceHasWritten(read, stop.signal)).rejects.toBe('SIGTERM');
  expect(reads).toBe(3);
});

test('a folder that the service does not write to is named with the setting that allows it', async () => {
  const error =
    "Code: 36. DB::Exception: Path '/elsewhere/a/events' is not allowed for backups, see the 'backups.allowed_path' configuration parameter. (BAD_ARGUMENTS), Stack trace (when copying this message, always include the lines below): …";
  const engine = { inspect: async () => [{ status: 'BACKUP_FAILED', error }] } as Pick<Engine, 'inspect'>;
  expect(await readBackup(engine as Engine, 'id')).toEqual({
    isRunning: false,
    error: '/elsewhere/a/events is not below TAILRACE_BACKUP_DIR of the service',
  });
});
