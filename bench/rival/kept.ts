import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchData } from '../data.ts';
import type { ExportJob } from '../export-process.ts';
import { withFolder } from '../folder.ts';
import { withLinkedCopy } from '../linked-copy.ts';
import { runChild } from '../load.ts';
import { findShortage } from '../machine/disk-space.ts';
import { say, Unmeasured } from '../report.ts';

const MADE_FILE = 'made.json';
const EXPORT_MS_MAX = 3_600_000;

/**
 * The folder of a rival's data beside ours. `make` fills it once, and again if our data are newer.
 *
 * @param kept `bytes`: the disk space that it takes while it is filled
 * @throws Unmeasured if the disk has no room for it
 */
export async function openKept(
  { dataDir, endMs }: BenchData,
  { name, bytes }: { name: string; bytes: number },
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = `${dataDir}.${name}`;
  const made = join(folder, MADE_FILE);
  if (existsSync(made) && JSON.parse(readFileSync(made, 'utf8')).endMs === endMs) return folder;
  rmSync(folder, { recursive: true, force: true });
  const shortage = findShortage(dataDir, bytes);
  if (shortage !== undefined) throw new Unmeasured(shortage);
  mkdirSync(folder, { recursive: true });
  say(`loading the same rows into ${name}, kept in ${folder}`);
  const startMs = performance.now();
  await make(folder);
  writeFileSync(made, JSON.stringify({ endMs }));
  say(`${name} has them after ${Math.round((performance.now() - startMs) / 1000)} s`);
  return folder;
}

export type Export = Omit<ExportJob, 'dataDir' | 'folder' | 'nth'>;

/** Exports the rows of a table to `load`, a file for each day, oldest first; one day is on the disk at a time. */
export async function exportDays(
  data: BenchData,
  what: Export,
  load: (file: string) => Promise<void>,
): Promise<void> {
  await withFolder(`${data.dataDir}.export-`, async (folder) => {
    await withLinkedCopy(data, async ({ dataDir }) => {
      const exportDay = (nth: number) =>
        runChild<ExportJob, string>('export-process.ts', { ...what, dataDir, folder, nth }, EXPORT_MS_MAX);
      let nth = 0;
      for (let file = await exportDay(nth); file !== ''; file = await exportDay(nth)) {
        await load(file);
        rmSync(file);
        nth++;
        say(`${what.table}: day ${nth} is loaded`);
      }
    });
  });
}
