import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { getNamed, type Registry } from '../definitions/registry.ts';
import { TailraceError } from '../errors.ts';
import { replaceFile } from '../lib/file.ts';
import { compileSchema } from '../lib/schema-check.ts';
import type { HistoryVersionView, HistoryView } from '../management/view.ts';
import { type KeptTexts, versionOf } from './files.ts';

/** Kinds of definitions that the workbench saves, as in its paths. */
const HISTORY_KINDS = ['endpoints', 'alerts', 'dashboards', 'searches'] as const;
export type HistoryKind = (typeof HISTORY_KINDS)[number];

const VERSION = Type.Object({
  id: Type.String(),
  at_ms: Type.Number({ minimum: 0, maximum: 8.64e15 }),
  by: Type.String({ description: 'Empty: the files were not written by a save.' }),
  definition: Type.String(),
  sql: Type.Optional(Type.String()),
});
type KeptVersion = Static<typeof VERSION>;

const FILE = Type.Object({ versions: Type.Array(VERSION) });
const isHistory = compileSchema(FILE);

/** A definition whose UUID names its history. */
interface HistoryOf {
  readonly kind: HistoryKind;
  readonly id: string;
}

interface Saved extends HistoryOf {
  /** The acting person or key. */
  readonly by: string;
  /** What the save replaced. */
  readonly before: KeptTexts | undefined;
  readonly texts: KeptTexts;
}

export interface History {
  /** Keeps a save; calls must not overlap. A failure is reported and does not undo the save. */
  keep(saved: Saved): Promise<void>;
  /** Newest first. */
  list(of: HistoryOf): Promise<readonly KeptVersion[]>;
}

interface HistoryOptions {
  /** The folder, created with the first save. */
  readonly dir: string;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly onFailure: (error: unknown) => void;
}

/** Beyond each of these the oldest versions of a definition are forgotten. */
const VERSIONS_MAX = 50;
const DEFINITION_BYTES_MAX = 1024 * 1024;
const AGE_MS_MAX = 365 * 24 * 60 * 60 * 1000;
/** Beyond it the histories that were written least recently are deleted. */
const HISTORY_BYTES_MAX = 64 * 1024 * 1024;

/** Opens what the saves of this process have written: a file for each definition. */
export function createHistory({ dir, now, newId, onFailure }: HistoryOptions): History {
  const fileOf = ({ kind, id }: HistoryOf) => join(dir, `${kind}-${id.toLowerCase()}.json`);
  const list = async (of: HistoryOf) => (await readVersions(fileOf(of))).filter(isYoung);
  const isYoung = ({ at_ms: atMs }: KeptVersion) => atMs > now() - AGE_MS_MAX;
  const toVersion = (by: string, { definition, sql }: KeptTexts): KeptVersion => ({
    ...{ id: newId(), at_ms: now(), by, definition },
    ...(sql !== undefined && { sql }),
  });

  async function write({ by, before, texts, ...of }: Saved): Promise<void> {
    const versions = await list(of);
    const [last] = versions;
    // Somebody has edited the files elsewhere, or this is the first save.
    const isOther = before !== undefined && (last === undefined || !isEqual(last, before));
    const all = [toVersion(by, texts), ...(isOther ? [toVersion('', before)] : []), ...versions];
    await mkdir(dir, { recursive: true, mode: 0o700 });
    replaceFile(fileOf(of), `${JSON.stringify({ versions: bound(all) })}\n`);
    await removeOldest(dir);
  }

  return { list, keep: (saved) => write(saved).catch(onFailure) };
}

function isEqual(one: KeptTexts, other: KeptTexts): boolean {
  return one.definition === other.definition && one.sql === other.sql;
}

/** Keeps the newest versions. The first one is the save itself, whose texts are bounded. */
function bound(versions: readonly KeptVersion[]): KeptVersion[] {
  let bytes = 0;
  return versions.slice(0, VERSIONS_MAX).filter((version) => {
    bytes += Buffer.byteLength(JSON.stringify(version));
    return bytes <= DEFINITION_BYTES_MAX;
  });
}

/** Returns what a file has; nothing if it is missing or damaged. @throws Node's error */
async function readVersions(file: string): Promise<KeptVersion[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
  try {
    const value: unknown = JSON.parse(text);
    return isHistory(value) ? value.versions : [];
  } catch {
    return [];
  }
}

async function removeOldest(dir: string): Promise<void> {
  const files = await Promise.all(
    (await readdir(dir)).map(async (name) => {
      const { size, mtimeMs } = await stat(join(dir, name));
      return { path: join(dir, name), size, mtimeMs };
    }),
  );
  let bytes = 0;
  for (const { path, size } of files.toSorted((a, b) => b.mtimeMs - a.mtimeMs)) {
    bytes += size;
    if (bytes > HISTORY_BYTES_MAX) await rm(path, { force: true });
  }
}

export interface HistoryParts {
  readonly registry: Pick<Registry, 'getEndpoint' | 'getAlert' | 'getDashboard' | 'searches'>;
  readonly history: Pick<History, 'list'>;
}

interface Named {
  /** One of HISTORY_KINDS. */
  readonly kind: string;
  readonly name: string;
}

/** Lists the kept versions of a definition, newest first. @throws TailraceError `not_found`, `endpoint_not_found` */
export async function listHistory(parts: HistoryParts, named: Named): Promise<HistoryView> {
  return { result: (await read(parts, named)).map(toView) };
}

/** Reads a kept version of a definition. @throws as `listHistory` */
export async function readHistory(
  parts: HistoryParts,
  { id, ...named }: Named & { readonly id: string },
): Promise<HistoryVersionView> {
  const found = (await read(parts, named)).find((version) => version.id === id);
  if (found === undefined)
    throw new TailraceError('not_found', `${named.name} has no version ${JSON.stringify(id.slice(0, 100))}`);
  return { ...toView(found), definition: found.definition, sql: found.sql ?? null };
}

async function read({ registry, history }: HistoryParts, { kind, name }: Named) {
  const known = HISTORY_KINDS.find((one) => one === kind);
  if (known === undefined)
    throw new TailraceError('not_found', `there is no history of this kind; use ${HISTORY_KINDS.join(', ')}`);
  const find: Readonly<Record<HistoryKind, (name: string) => { readonly id: string }>> = {
    endpoints: registry.getEndpoint,
    alerts: registry.getAlert,
    dashboards: registry.getDashboard,
    searches: (one) => getNamed('search', registry.searches, one),
  };
  return await history.list({ kind: known, id: find[known](name).id });
}

function toView({ id, at_ms: atMs, by, definition, sql }: KeptVersion): HistoryView['result'][number] {
  return { id, at: new Date(atMs).toISOString(), by, version: versionOf({ definition, sql }) };
}
