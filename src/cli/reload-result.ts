import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What became of a reload: in reload.json of the data directory, for `tailrace reload`. */
export interface ReloadResult {
  /** When it began; ms since the epoch. */
  readonly startedMs: number;
  /** How many are served after it. */
  readonly endpoints: number;
  readonly sources: number;
  /** Why the definitions were refused, a line each; empty if they were not. */
  readonly faults: readonly string[];
  /** Whether the definitions themselves are at fault. */
  readonly isInput: boolean;
}

const FILE = 'reload.json';

/** @throws Error of the file system */
export function writeResult(dataDir: string, result: ReloadResult): void {
  const file = join(dataDir, FILE);
  // Renamed, so that nobody reads half of it.
  writeFileSync(`${file}.new`, JSON.stringify(result), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** The result of the last reload that began at `sinceMs` or later; `undefined` while there is none. */
export function findResult(dataDir: string, sinceMs: number): ReloadResult | undefined {
  try {
    // Only `writeResult` of a service writes this file.
    const result = JSON.parse(readFileSync(join(dataDir, FILE), 'utf8')) as ReloadResult;
    return result.startedMs >= sinceMs ? result : undefined;
  } catch {
    return undefined;
  }
}

/** As a person reads it: the faults, a line each, and in the last line what is served now. */
export function describeResult({ endpoints, sources, faults }: ReloadResult): string[] {
  if (faults.length === 0)
    return [`definitions reloaded: ${endpoints} endpoints and ${sources} sources are served`];
  return [...faults, 'definitions not reloaded: the old ones go on serving'];
}
