import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { InputError, messageOf } from '../../errors.ts';
import { replaceFile } from '../../lib/file.ts';

/** In the folder of a backup; written last, so that a backup without it is incomplete. */
const MANIFEST_FILE = 'manifest.json';
/** The version of the layout of backups. */
export const BACKUP_FORMAT = 1;

const count = Type.Integer({ minimum: 0 });
const digest = Type.String({ pattern: '^[0-9a-f]{64}$' });
// Names become parts of paths when the backup is restored.
const name = Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]*$' });

const PART = Type.Object({
  name,
  rows: count,
  bytes: count,
  /** SHA-256 over names and contents of its files: src/maintenance/backup/files.ts. */
  sha256: digest,
  /** SHA-256 of the engine's own list of checksums: equal for equal content, whatever the name of the part. */
  content: digest,
});
const TABLE = Type.Object({
  name,
  definition: Type.String({ pattern: '^CREATE TABLE ' }),
  parts: Type.Array(PART),
});
// Relative, to the backup and to the directory that it is restored into.
const path = Type.String({ pattern: '^(?!(?:[^]*/)?\\.\\.?(?:/|$))[^/]' });
const FILE = Type.Object({ path, bytes: count, sha256: digest });
const MANIFEST = Type.Object({
  format: Type.Integer(),
  tailrace: Type.String(),
  created_at: Type.String(),
  /** The layout of the events: src/engine/store-file.ts. Null: the events are on a ClickHouse server, not in the backup. */
  store_version: Type.Union([Type.Integer(), Type.Null()]),
  /** The version of control.sqlite. Null: the keys are in PostgreSQL, not in the backup. */
  control_version: Type.Union([Type.Integer(), Type.Null()]),
  tables: Type.Array(TABLE),
  /** All other files. */
  files: Type.Array(FILE),
});

export type Manifest = Type.Static<typeof MANIFEST>;
export type ManifestTable = Type.Static<typeof TABLE>;
export type ManifestPart = Type.Static<typeof PART>;
export type ManifestFile = Type.Static<typeof FILE>;

/** Writes the manifest; its last line is the checksum of the lines before. */
export function writeManifest(dir: string, manifest: Manifest): void {
  const text = `${JSON.stringify(manifest, undefined, 1)}\n`;
  replaceFile(join(dir, MANIFEST_FILE), `${text}${hash('sha256', text)}\n`);
}

/** @throws InputError if the folder holds no backup, an unfinished one, or one of a newer version */
export function readManifest(dir: string): Manifest {
  const file = join(dir, MANIFEST_FILE);
  const text = readText(dir, file);
  const at = text.lastIndexOf('\n', text.length - 2) + 1;
  if (hash('sha256', text.slice(0, at)) !== text.slice(at).trim())
    throw new InputError([`${file} is damaged: its last line is not the checksum of the others`]);
  const manifest: unknown = JSON.parse(text.slice(0, at));
  const format = (manifest as { format?: unknown }).format; // an object: the checksum matches
  if (format !== BACKUP_FORMAT)
    throw new InputError([
      `${file} is of format ${format}; this Tailrace reads ${BACKUP_FORMAT}. Restore it with the version of Tailrace that wrote it, or update`,
    ]);
  if (!Value.Check(MANIFEST, manifest)) throw new InputError([`${file} is not a manifest of a backup`]);
  return manifest;
}

function readText(dir: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing
      ? `has no ${MANIFEST_FILE}: it is not a backup, or an unfinished one; name the folder that "tailrace backup" has filled`
      : `cannot be read: ${messageOf(error)}`;
    throw new InputError([`${dir} ${why}`], { cause: error });
  }
}

export function sumRows({ parts }: Pick<ManifestTable, 'parts'>): number {
  return parts.reduce((sum, { rows }) => sum + rows, 0);
}

/** The error of a file of a backup that differs from the manifest. */
export function damaged(path: string): InputError {
  return new InputError([
    `the backup is damaged: ${path} differs from its checksum in the manifest; nothing was restored`,
  ]);
}
