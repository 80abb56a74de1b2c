import { expect, test } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { readBackup, startBackup, untilServiceHasWritten } from '../../src/maintenance/backup.ts';
import { textOf } from '../../src/sql/sql.ts';

test('a command that is stopped waits for the engine of the service, which goes on to write into its folder', async () => {
  const stop = new AbortController();
  const states = [true, true, false].map((isRunning) => ({ isRunning, error: '' }));
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
    "Code: 36. DB::Exception: Path '/elsewhere/a/events' is not allowed for backups, see (BAD_ARGUMENTS), Stack trace …";
  const engine = { inspect: async () => [{ status: 'BACKUP_FAILED', error }] } as Pick<Engine, 'inspect'>;
  expect(await readBackup(engine as Engine, 'id')).toEqual({
    isRunning: false,
    error: '/elsewhere/a is not below TAILRACE_BACKUP_DIR of the service',
  });
});

test('a backup begins when no deletion is unfinished: a restore keeps the rows that are left', async () => {
  const unfinished = [[{ table: 'edge_logs', parts: 2, fault: '' }], []];
  const begun: number[] = [];
  const engine = {
    cluster: '',
    inspect: async (sql) => {
      if (textOf(sql).includes('system.mutations')) return unfinished.shift() ?? [];
      if (textOf(sql).startsWith('BACKUP')) begun.push(unfinished.length);
      return [];
    },
  } as Pick<Engine, 'inspect' | 'cluster'> as Engine;
  const start = (signal: AbortSignal) => startBackup(engine, { dir: '/backups/a', base: undefined, signal });
  await start(new AbortController().signal);
  expect(begun).toEqual([0]);
  unfinished.push([{ table: 'edge_logs', parts: 2, fault: '' }]);
  await expect(start(AbortSignal.abort())).rejects.toThrow();
  expect(begun).toEqual([0]);
});
