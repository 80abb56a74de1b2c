import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '../definitions/source.ts';
import { InputError, messageOf } from '../errors.ts';
import { replaceFile } from '../lib/file.ts';
import { readVersion } from '../version.ts';
import type { Engine } from './engine.ts';

/** Upgrades the existing tables of these sources by one version. Idempotent, since a crash may precede the writing of the version. */
export type Upgrade = (engine: Engine, sources: readonly Source[]) => Promise<void>;

/** The upgrades, oldest first. A released upgrade is never changed. Columns, indexes and lifetimes need no upgrade: `applySchema` updates them. */
const UPGRADES: readonly Upgrade[] = [];

/** The version of a store without a version file, which releases before versions wrote. */
export const UNMARKED = 1;

/** The version of the tables' layout that this program reads and writes. */
export const STORE_VERSION = UNMARKED + UPGRADES.length;

/** In the data directory: the version of the embedded store beside it, as JSON. */
export const VERSION_FILE = 'store-version.json';

// The file's content while `tailrace restore` fills the directory.
const RESTORING = 'restoring';

/**
 * Returns the version of the embedded store of a data directory; that of this program if there is no store yet. Call it before the engine
 * opens the store: an older engine detaches parts that it cannot read, so that their events seem lost.
 *
 * @throws InputError when the store is of a newer version, or was only partly restored
 */
export function findStoreVersion(dataDir: string, version = STORE_VERSION): number {
  const file = join(dataDir, VERSION_FILE);
  if (!existsSync(file)) return existsSync(join(dataDir, 'store')) ? UNMARKED : version;
  const { store, tailrace } = parseVersionFile(file);
  if (store === RESTORING)
    throw new InputError([
      `data directory ${dataDir} holds a part of a backup: "tailrace restore" did not finish; empty the directory and restore again`,
    ]);
  refuseNewer(Number(store), version, `the event store in ${dataDir}, last written by Tailrace ${tailrace},`);
  return Number(store);
}

/** @throws InputError when a store or a backup is of a version that this program does not know */
export function refuseNewer(found: number, version: number, what: string): void {
  if (found <= version) return;
  throw new InputError([
    `${what} is of version ${found}, newer than this Tailrace ${readVersion()} reads (${version}); update Tailrace`,
  ]);
}

export function writeStoreVersion(dataDir: string, version: number | typeof RESTORING = STORE_VERSION): void {
  const text = `${JSON.stringify({ store: version, tailrace: readVersion() })}\n`;
  const file = join(dataDir, VERSION_FILE);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  replaceFile(file, text);
}

/** Marks the directory as unusable until `writeStoreVersion` is called again. */
export function markRestoring(dataDir: string): void {
  writeStoreVersion(dataDir, RESTORING);
}

/** Upgrades a store of an older version, step by step. */
export async function upgradeStore(
  engine: Engine,
  { from, sources }: { readonly from: number; readonly sources: readonly Source[] },
  upgrades: readonly Upgrade[] = UPGRADES,
): Promise<void> {
  for (const upgrade of upgrades.slice(from - UNMARKED)) await upgrade(engine, sources);
}

function parseVersionFile(file: string): Record<string, unknown> {
  try {
    const version = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    const { store } = version;
    if (store === RESTORING || (Number.isSafeInteger(store) && Number(store) >= UNMARKED)) return version;
    throw new Error('it has no version');
  } catch (error) {
    const fault = `${file} cannot be read: ${messageOf(error)}; it holds the version of the event store`;
    throw new InputError([fault], { cause: error });
  }
}
