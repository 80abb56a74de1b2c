import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import { packagePath } from '../lib/package-path.ts';
import { checkBucket } from './checks/bucket.ts';
import { checkParameters, checkParameterUse } from './checks/parameters.ts';
import { checkCaching, checkSandboxing, findNameWarning } from './checks/settings.ts';
import { checkSourceColumns } from './checks/source-columns.ts';
import { checkUnique } from './checks/unique.ts';
import { checkEndpointShape, createEndpoint, type Endpoint, endpointFields } from './endpoint.ts';
import type { Fault } from './fault.ts';
import { type DefinitionFolders, findFolders, type ReadFolders } from './folders.ts';
import { createSource, type Source } from './source.ts';
import { checkSourceShape } from './source-file.ts';
import { readText, readYamlFile, type YamlFile } from './yaml-file.ts';

/** Endpoints and sources from files without faults; the engine has not checked the SQL yet. */
export interface Definitions {
  readonly endpoints: readonly Endpoint[];
  readonly sources: readonly Source[];
}

/** The result of reading all definition files. */
export interface Reading {
  /** Without the files that have faults. */
  readonly definitions: Definitions;
  /** The folders that were read, by `findFolders`. */
  readonly folders: ReadFolders;
  readonly faults: readonly Fault[];
  /** Definitions that are served, but should be changed. */
  readonly warnings: readonly Fault[];
  /** Whether every source is free of faults, so that an engine with their tables can check the queries. */
  readonly sourcesAreWhole: boolean;
  /** Queries that are in no definition because their endpoint.yaml has faults; every query if a source has faults. */
  readonly drafts: readonly SqlFile[];
}

/** Reads every definition and reports all faults at once. */
export async function readDefinitions(named: DefinitionFolders): Promise<Reading> {
  const folders = findFolders(named);
  const faults: Fault[] = [];
  const sourceFiles = await readSourceFiles(folders.sourcesDir, faults);
  faults.push(...checkUnique(sourceFiles, ['id', 'name', 'table']));
  const sources = sourceFiles.flatMap((file) => {
    const shape = checkSourceShape(file);
    const own = shape.length > 0 ? shape : checkSourceColumns(file);
    faults.push(...own);
    return own.length === 0 ? [createSource(file)] : [];
  });
  const sourcesAreWhole = faults.length === 0;

  const { pairs, drafts } = await readEndpointFiles(folders.endpointsDir, faults);
  const yamlFiles = pairs.map(({ yaml }) => yaml);
  faults.push(...checkUnique(yamlFiles, ['id', 'name']));
  const warnings: Fault[] = [];
  const endpoints = pairs.flatMap(({ yaml, sql }) => {
    const shape = checkEndpointShape(yaml);
    const own = shape.length === 0 ? checkEndpoint(yaml, sql) : [...shape, ...checkDraft(yaml, sql)];
    faults.push(...own);
    const hasSql = sql.text.trim() !== ''; // otherwise a fault has been reported
    const isWhole = own.length === 0 && hasSql;
    if (hasSql && !(isWhole && sourcesAreWhole)) drafts.push(sql);
    if (own.length === 0) warnings.push(...findNameWarning(yaml));
    const fileHash = hashOf(yaml.text, sql.text);
    const hash = hashEndpoint(fileHash, sources);
    return isWhole ? [createEndpoint(yaml, { sql, fileHash, hash, sources })] : [];
  });
  return { definitions: { endpoints, sources }, folders, faults, warnings, sourcesAreWhole, drafts };
}

function checkEndpoint(yaml: YamlFile, sql: SqlFile): Fault[] {
  return [
    ...checkCaching(yaml),
    ...checkSandboxing(yaml, sql),
    ...checkParameters(yaml),
    ...checkBucket(yaml, sql),
    ...(sql.text.trim() === '' ? [] : checkParameterUse(yaml, sql)),
  ];
}

const PARAMETER_NAME = /^[a-zA-Z]\w*$/;

/** The check that is possible while the YAML has a wrong shape: that the query uses the declared parameters. */
function checkDraft(yaml: YamlFile, sql: SqlFile): Fault[] {
  if (!isMap(yaml.value) || sql.text.trim() === '') return [];
  const { parameters, bucket = {} } = endpointFields(yaml);
  const areNamed = isMap(parameters) && Object.keys(parameters).every((name) => PARAMETER_NAME.test(name));
  return areNamed && isMap(bucket) ? checkParameterUse(yaml, sql) : [];
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A query.sql. */
export interface SqlFile {
  readonly file: string;
  readonly text: string;
}

async function readSourceFiles(dir: string, faults: Fault[]): Promise<YamlFile[]> {
  const entries = await listFolder(dir, faults);
  const names = entries.flatMap(({ name, isFolder }) => (!isFolder && /\.ya?ml$/.test(name) ? [name] : []));
  if (names.length === 0 && faults.length === 0) {
    const message = `has no source: add a <wire name>.yaml, as ${packagePath('docs/sources.md')} shows`;
    faults.push({ file: dir, line: 1, message });
  }
  const read = await Promise.all(names.toSorted().map((name) => readYamlFile(join(dir, name))));
  return read.flatMap((file) => {
    if (!Array.isArray(file)) return [file];
    faults.push(...file);
    return [];
  });
}

interface EndpointFiles {
  readonly pairs: { yaml: YamlFile; sql: SqlFile }[];
  /** Queries without an endpoint.yaml, or with one that is not YAML. */
  readonly drafts: SqlFile[];
}

async function readEndpointFiles(dir: string, faults: Fault[]): Promise<EndpointFiles> {
  const entries = await listFolder(dir, faults);
  const names = entries.flatMap(({ name, isFolder }) => (isFolder && !name.startsWith('.') ? [name] : []));
  const files: EndpointFiles = { pairs: [], drafts: [] };
  for (const name of names.toSorted()) {
    const sqlPath = join(dir, name, 'query.sql');
    const [yaml, text] = await Promise.all([
      readYamlFile(join(dir, name, 'endpoint.yaml')),
      readText(sqlPath),
    ]);
    if (typeof text !== 'string') faults.push(text);
    else if (text.trim() === '')
      faults.push({ file: sqlPath, line: 1, message: 'is empty: it holds one SELECT' });
    const sql = { file: sqlPath, text: typeof text === 'string' ? text : '' };
    if (!Array.isArray(yaml)) files.pairs.push({ yaml, sql });
    else {
      faults.push(...yaml);
      if (sql.text.trim() !== '') files.drafts.push(sql);
    }
  }
  return files;
}

interface Entry {
  readonly name: string;
  readonly isFolder: boolean;
}

/** Links are followed: folders that Kubernetes mounts hold nothing else. */
async function listFolder(dir: string, faults: Fault[]): Promise<Entry[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    return await Promise.all(
      entries.map(async (entry) => ({
        name: entry.name,
        isFolder: entry.isSymbolicLink() ? await isFolder(join(dir, entry.name)) : entry.isDirectory(),
      })),
    );
  } catch (error) {
    faults.push({ file: dir, line: 1, message: `cannot be read as a folder: ${messageOf(error)}` });
    return [];
  }
}

/** A broken link counts as a file, which is then reported as missing. */
async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}

/** The hash of everything that shapes an answer: the endpoint's own files, and the sources that its query may read. */
export function hashEndpoint(fileHash: string, sources: readonly Source[]): string {
  // Replicas have the same sources in different folders.
  const texts = sources.map((source) => JSON.stringify({ ...source, file: undefined }));
  return hashOf(fileHash, ...texts.toSorted());
}

function hashOf(...texts: string[]): string {
  return createHash('sha256').update(texts.join('\0')).digest('hex');
}
