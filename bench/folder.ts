import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs `work` with a new temporary folder and removes it, also if the benchmark is interrupted. */
export async function withFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(prefix);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    return await work(folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** The same with a folder of the system's for temporary files. */
export function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  return withFolder(join(tmpdir(), 'tailrace-bench-'), work);
}
