import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchData } from '../data.ts';
import type { ExportJob } from '../export-process.ts';
import { withFolder } from '../folder.ts';
import { withLinkedCopy } from '../linked-copy.ts';
import { runChild } from '../load.ts';
import { say } from '../report.ts';

const MADE_FILE = 'made.json';
const EXPORT_MS_MAX = 3_600_000;

/** The folder of a rival's data beside ours. `make` fills it once, and again if our data are newer. */
export async function openKept(
  { dataDir, endMs }: BenchData,
  name: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = `${dataDir}.${name}`;
  const made = join(folder, MADE_FILE);
  if (existsSync(made) && JSON.parse(readFileSync(made, 'utf8')).endMs === endMs) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  say(`loading the same rows into ${name}, kept in ${folder}`);
  const startMs = performance.now();
  await make(folder);
  writeFileSync(made, JSON.stringify({ endMs }));
  say(`${name} has them after ${Math.round((performance.now() - startMs) / 1000)} s`);
  return folder;
}

export type Export = Omit<ExportJob, 'dataDir' | 'folder'>;

/** Exports the rows of a table to `load`, one file per day, oldest first; removes the files afterwards. */
export async function exportDays(
  data: BenchData,
  what: Export,
  load: (file: string) => Promise<void>,
): Promise<void> {
  await withFolder(`${data.dataDir}.export-`, async (folder) => {
    const files = await withLinkedCopy(data, ({ dataDir }) =>
      runChild<ExportJob, string[]>('export-process.ts', { ...what, dataDir, folder }, EXPORT_MS_MAX),
    );
    for (const [i, file] of files.entries()) {
      await load(file);
      rmSync(file);
      say(`${what.table}: day ${i + 1} of ${files.length} is loaded`);
    }
  });
}
