import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { say } from './report.ts';
import { fillSample } from './server.ts';

/** A store full of realistic logs. */
export interface BenchData {
  readonly dataDir: string;
  /** The instant at which the logs end; whoever asks at that instant finds them recent, however old they are. ms. */
  readonly endMs: number;
}

const PROJECTS = 50;
const MADE_FILE = 'made.json';
// The store drops events when they are 90 days old, by the real clock.
const AGE_MS_MAX = 60 * 86_400_000;

/** Makes the data of so many rows once; it is kept in the system's temporary folder for the next run. */
export async function openBenchData(rows: number): Promise<BenchData> {
  const dataDir = join(tmpdir(), 'tailrace-bench-data', `${rows}-rows`);
  const made = join(dataDir, MADE_FILE);
  const known = existsSync(made) ? Number(JSON.parse(readFileSync(made, 'utf8')).endMs) : Number.NaN;
  if (Date.now() - known < AGE_MS_MAX) return { dataDir, endMs: known };
  const unfinished = `${dataDir}.unfinished`;
  for (const folder of [dataDir, unfinished]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  say(`making ${rows.toLocaleString('en')} rows, kept in ${dataDir}`);
  const endMs = Date.now();
  await fillSample(unfinished, rows, ['--projects', String(PROJECTS)]);
  writeFileSync(join(unfinished, MADE_FILE), JSON.stringify({ endMs }));
  renameSync(unfinished, dataDir);
  return { dataDir, endMs };
}
