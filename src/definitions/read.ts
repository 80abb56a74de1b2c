import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from '../errors.ts';
import { packagePath } from '../lib/file.ts';
import { ALERTS, type Alert } from './alert.ts';
import { checkPair, findClockWarning, type SqlFile } from './checks/endpoint.ts';
import { checkSource } from './checks/source.ts';
import { DASHBOARDS, type Dashboard } from './dashboard.ts';
import { createEndpoint, type Endpoint, toToolName } from './endpoint.ts';
import { checkUnique, type FileKind, listFolder, readKind, textOf } from './file-kind.ts';
import { findFolders, findSearchesDir, type NamedFolders, type ReadFolders } from './folders.ts';
import { SAVED_SEARCHES, type SavedSearch } from './saved-search.ts';
import { createSource, type Source } from './source.ts';
import { readText, readYamlFile, type YamlFile } from './yaml-file.ts';

/** Definitions from files without faults; the engine has not checked the SQL yet. */
export interface Definitions {
  readonly endpoints: readonly Endpoint[];
  readonly sources: readonly Source[];
  /** Not compared with the endpoints yet (src/alerts/verify.ts). */
  readonly alerts: readonly Alert[];
  /** Not compared with the endpoints yet (src/verify/dashboards.ts). */
  readonly dashboards: readonly Dashboard[];
  /** Not read as searches yet (src/search/verify.ts). */
  readonly searches: readonly SavedSearch[];
}

export interface LoadResult {
  /** The definitions that can be created of their files, for further checks; to be served only if there are no `faults`. */
  readonly definitions: Definitions;
  readonly folders: ReadFolders;
  readonly faults: readonly Fault[];
  /** Definitions that are served, but should be changed. */
  readonly warnings: readonly Fault[];
  /** Whether every source is free of faults, so that an engine with their tables can check the queries. */
  readonly sourcesAreWhole: boolean;
  /** Queries that are in no definition because of faults in their endpoint.yaml; every query if a source has faults. */
  readonly drafts: readonly SqlFile[];
}

const SOURCES: FileKind<Source> = {
  noun: 'source',
  unique: ['id', 'name', 'table'],
  check: checkSource,
  create: createSource,
};

/** Reads every definition and reports all faults at once. */
export async function readDefinitions(named: NamedFolders): Promise<LoadResult> {
  const folders = findFolders(named);
  const faults: Fault[] = [];
  const sources = await readKind(folders.sourcesDir, SOURCES, faults);
  if (sources.length === 0 && faults.length === 0) {
    const message = `has no source: add a <wire name>.yaml, as ${packagePath('docs/sources.md')} shows`;
    faults.push({ file: folders.sourcesDir, line: 1, message });
  }
  const sourcesAreWhole = faults.length === 0;

  const { endpoints, warnings, ...read } = await readEndpoints(folders.endpointsDir, sources, faults);
  const alerts = await readKind(folders.alertsDir, ALERTS, faults);
  const dashboards = await readKind(folders.dashboardsDir, DASHBOARDS, faults);
  const searchesDir = findSearchesDir(folders);
  const searches = await readKind(existsSync(searchesDir) ? searchesDir : undefined, SAVED_SEARCHES, faults);
  const definitions = { endpoints, sources, alerts, dashboards, searches };
  const drafts = sourcesAreWhole ? read.drafts : read.queries;
  return { definitions, folders, faults, warnings, sourcesAreWhole, drafts };
}

/** @returns `queries`: all that are not empty; `drafts`: those of them without an endpoint */
async function readEndpoints(dir: string, sources: readonly Source[], faults: Fault[]) {
  const pairs = await readPairs(dir, faults);
  const yamlFiles = pairs.flatMap(({ yaml }) => yaml ?? []);
  faults.push(...checkUnique(yamlFiles, ['id', 'name']), ...checkToolNames(yamlFiles));
  const endpoints: Endpoint[] = [];
  const drafts: SqlFile[] = [];
  const warnings: Fault[] = [];
  for (const { yaml, sql } of pairs) {
    const checked = yaml && checkPair(yaml, sql);
    faults.push(...(checked?.faults ?? []));
    if (checked?.faults.length === 0) warnings.push(...findClockWarning(sql));
    if (isEmpty(sql)) continue; // a fault that has been reported
    if (yaml !== undefined && checked?.isReadable === true)
      endpoints.push(createFromPair(yaml, sql, sources));
    else drafts.push(sql);
  }
  return { endpoints, warnings, drafts, queries: pairs.map(({ sql }) => sql).filter((sql) => !isEmpty(sql)) };
}

function isEmpty({ text }: SqlFile): boolean {
  return text.trim() === '';
}

/** Checks that no two names become one tool. Equal names are reported by `checkUnique`. */
function checkToolNames(files: readonly YamlFile[]): Fault[] {
  const taken = new Map<string, string>();
  return files.flatMap((file) => {
    const name = textOf(file, 'name') ?? '';
    const tool = toToolName(name);
    const other = taken.get(tool) ?? name;
    taken.set(tool, other);
    if (other === name) return [];
    const message =
      `name ${JSON.stringify(name)} and ${JSON.stringify(other)} are both ${tool} for agents and ` +
      'in OpenAPI, which have neither . nor -; take another name';
    return [file.fault(['name'], message)];
  });
}

/** Creates the endpoint of two files that `checkPair` found readable, and whose SQL is not empty. */
export function createFromPair(yaml: YamlFile, sql: SqlFile, sources: readonly Source[]): Endpoint {
  const fileHash = hashOf(yaml.text, sql.text);
  return createEndpoint(yaml, sql, { fileHash, hash: hashEndpoint(fileHash, sources), sources });
}

/** Reads the two files of each endpoint; `yaml` is left out if it is not YAML, and `sql` is empty if it is missing. */
async function readPairs(dir: string, faults: Fault[]) {
  const entries = await listFolder(dir, faults);
  const names = entries.flatMap(({ name, isFolder }) => (isFolder && !name.startsWith('.') ? [name] : []));
  const pairs: { yaml: YamlFile | undefined; sql: SqlFile }[] = [];
  for (const name of names.toSorted()) {
    const file = join(dir, name, 'query.sql');
    const yaml = await readYamlFile(join(dir, name, 'endpoint.yaml'));
    if (Array.isArray(yaml)) faults.push(...yaml);
    const text = await readText(file);
    if (typeof text !== 'string') faults.push(text);
    else if (text.trim() === '') faults.push(emptySql(file));
    const sql = { file, text: typeof text === 'string' ? text : '' };
    pairs.push({ yaml: Array.isArray(yaml) ? undefined : yaml, sql });
  }
  return pairs;
}

export const emptySql = (file: string): Fault => ({
  file,
  line: 1,
  message: 'is empty: it holds one SELECT',
});

/** Hashes everything that shapes an answer: the endpoint's own files, and the sources that its query may read. */
export function hashEndpoint(fileHash: string, sources: readonly Source[]): string {
  // Replicas have the same sources in different folders.
  const texts = sources.map((source) => JSON.stringify({ ...source, file: undefined }));
  return hashOf(fileHash, ...texts.toSorted());
}

function hashOf(...texts: string[]): string {
  return createHash('sha256').update(texts.join('\0')).digest('hex');
}
