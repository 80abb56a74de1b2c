import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { InputError } from '../../errors.ts';
import { findBelow } from '../../lib/below.ts';
import { syncFolder } from '../../lib/file.ts';
import { readVersion } from '../../version.ts';
import { copyDefinitions, type DefinitionDirs } from './definitions.ts';
import { type CopyOptions, copyPart, countBytes, linkPart, measure, readContent, readRows } from './files.ts';
import { CONTROL_FILE, copyKeys, readControlVersion } from './key-files.ts';
import {
  BACKUP_FORMAT,
  type Manifest,
  type ManifestFile,
  type ManifestPart,
  type ManifestTable,
  readManifest,
  sumRows,
  writeManifest,
} from './manifest.ts';
import type { Snapshot, SnapshotPart } from './snapshot.ts';
import type { BackupTarget } from './target.ts';

/** The folder of a backup with a folder per table, and in it a folder per part. */
export const EVENTS_FOLDER = 'events';

/** A data directory to back up, whichever process owns its store. */
export interface BackupSource {
  readonly dataDir: string;
  readonly definitions: DefinitionDirs;
  /** Whether the keys are in the data directory. */
  readonly hasKeys: boolean;
  /** Creates the snapshot, which the owner of the source removes; `undefined` if the events are on a server. */
  snapshot(): Promise<Snapshot | undefined>;
}

export interface BackupOptions {
  readonly target: BackupTarget;
  /** Folder of an older backup: equal files are linked to it. */
  readonly base: string | undefined;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** @param bytes copied so far */
  readonly onProgress: (bytes: number, total: number) => void;
}

/** The outcome of a backup. */
export interface BackupDone {
  readonly manifest: Manifest;
  readonly rows: number;
  readonly copiedBytes: number;
  /** Linked from the base. */
  readonly linkedBytes: number;
}

/** The parts of the base by their content. */
type Base = ReadonlyMap<string, { readonly dir: string; readonly part: ManifestPart }>;

/**
 * Writes a backup, its manifest last.
 *
 * @throws InputError if the target or the base cannot be used; errors of the disk
 */
export async function createBackup(source: BackupSource, options: BackupOptions): Promise<BackupDone> {
  const { target, base, now, signal } = options;
  const known = base === undefined ? new Map() : readBase(base, target.dir);
  const createdAt = new Date(now()).toISOString();
  const files: ManifestFile[] = [];
  const snapshot = await source.snapshot();
  const events = await copyEvents(snapshot, known, options);
  const copying: CopyOptions = { signal };
  if (source.hasKeys) files.push(...(await copyKeys(source.dataDir, target.dir, copying)));
  files.push(...(await copyDefinitions(source.definitions, target.dir, copying)));
  const hasControl = files.some(({ path }) => path === CONTROL_FILE);
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    tailrace: readVersion(),
    created_at: createdAt,
    store_version: snapshot?.storeVersion ?? null,
    control_version: hasControl ? await readControlVersion(join(target.dir, CONTROL_FILE)) : null,
    tables: events.tables,
    files,
  };
  writeManifest(target.dir, manifest);
  const rows = events.tables.reduce((sum, table) => sum + sumRows(table), 0);
  return { manifest, rows, copiedBytes: events.copiedBytes, linkedBytes: events.linkedBytes };
}

interface PlannedPart extends SnapshotPart {
  readonly table: string;
  readonly content: string;
  readonly bytes: number;
}

async function copyEvents(snapshot: Snapshot | undefined, base: Base, options: BackupOptions) {
  const { target, signal, onProgress } = options;
  const planned: PlannedPart[] = [];
  for (const { name: table, parts } of snapshot?.tables ?? [])
    for (const part of parts)
      planned.push({
        ...part,
        table,
        content: await readContent(part.path),
        bytes: await measure(part.path),
      });
  const total = sumBytes(planned.filter(({ content }) => !base.has(content)));
  await target.requireRoom(total);
  const copying: CopyOptions = { signal, onBytes: countBytes(total, onProgress) };
  const done = new Map<string, ManifestPart[]>((snapshot?.tables ?? []).map(({ name }) => [name, []]));
  for (const part of planned) {
    signal.throwIfAborted();
    done.get(part.table)?.push(await storePart(part, base, { target, copying }));
  }
  const tables: ManifestTable[] = (snapshot?.tables ?? []).map(({ name, definition }) => ({
    name,
    definition,
    parts: done.get(name) ?? [],
  }));
  return { tables, copiedBytes: total, linkedBytes: sumBytes(planned) - total };
}

async function storePart(
  { table, name, path, content }: PlannedPart,
  base: Base,
  { target, copying }: { target: BackupTarget; copying: CopyOptions },
): Promise<ManifestPart> {
  const to = await findBelow(target.dir, join(EVENTS_FOLDER, table, name));
  const found = base.get(content);
  if (found !== undefined) await linkPart(found.dir, to);
  const copied = found === undefined ? await copyPart(path, to, copying) : found.part;
  syncFolder(to);
  return { name, rows: await readRows(path), bytes: copied.bytes, sha256: copied.sha256, content };
}

/** @throws InputError if the base is not a backup, or on another file system */
function readBase(base: string, target: string): Base {
  const manifest = readManifest(base);
  if (statSync(base).dev !== statSync(target).dev)
    throw new InputError([
      `--base: ${base} is not on the same file system as ${target}, so its files cannot be linked; omit --base for a full backup`,
    ]);
  const inTarget = relative(base, target);
  if (inTarget === '')
    throw new InputError(['--base: is the folder of the new backup; name the folder of an older one']);
  return new Map(
    manifest.tables.flatMap(({ name, parts }) =>
      parts.map((part) => [part.content, { dir: join(base, EVENTS_FOLDER, name, part.name), part }] as const),
    ),
  );
}

function sumBytes(parts: readonly { bytes: number }[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}
