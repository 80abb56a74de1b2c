import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, messageOf } from '../errors.ts';
import { packagePath } from '../lib/package-path.ts';
import { checkBucket } from './checks/bucket.ts';
import { checkCaching } from './checks/caching.ts';
import { findNameWarning } from './checks/name.ts';
import { checkParameterUse } from './checks/parameter-use.ts';
import { checkParameters } from './checks/parameters.ts';
import { checkSandboxing } from './checks/sandboxing.ts';
import { checkSourceColumns } from './checks/source-columns.ts';
import { checkUnique } from './checks/unique.ts';
import { checkEndpointShape, createEndpoint, type Endpoint, endpointFields } from './endpoint.ts';
import { type Fault, formatFault } from './fault.ts';
import { type DefinitionFolders, findFolders, type ReadFolders } from './folders.ts';
import { createSource, type Source } from './source.ts';
import { checkSourceShape } from './source-file.ts';
import { readText, readYamlFile, type YamlFile } from './yaml-file.ts';

/** The definitions of one reading: checked, but the SQL not yet shown to an engine. */
export interface Definitions {
  readonly endpoints: readonly Endpoint[];
  readonly sources: readonly Source[];
}

/** What was read and everything wrong with it; `definitions` lacks the files that have faults. */
export interface Reading {
  readonly definitions: Definitions;
  /** The folders that were read, by `findFolders`. */
  readonly folders: ReadFolders;
  readonly faults: readonly Fault[];
  /** What is served all the same, and should be otherwise. */
  readonly warnings: readonly Fault[];
  /** Whether every source is free of faults, so that an engine with their tables can judge the queries. */
  readonly sourcesAreWhole: boolean;
  /** Queries that are in no definition, since their endpoint.yaml has faults; without whole sources, every query. */
  readonly drafts: readonly SqlFile[];
}

/** Reads every definition, going on past the faults so that all are reported at once. */
export async function readDefinitions(named: DefinitionFolders): Promise<Reading> {
  const folders = findFolders(named);
  const faults: Fault[] = [];
  const sourceFiles = await readManagedFiles(folders.sourcesDir, faults);
  faults.push(...checkUnique(sourceFiles, ['id', 'name', 'table']));
  const sources = sourceFiles.flatMap((file) => {
    const own = firstFaults([() => checkSourceShape(file), () => checkSourceColumns(file)]);
    faults.push(...own);
    return own.length === 0 ? [createSource(file)] : [];
  });
  const sourcesAreWhole = faults.length === 0;

  const { pairs: endpointFiles, drafts } = await readEndpointFiles(folders.endpointsDir, faults);
  const yamlFiles = endpointFiles.map((pair) => pair.yaml);
  faults.push(...checkUnique(yamlFiles, ['id', 'name']));
  const warnings: Fault[] = [];
  const endpoints = endpointFiles.flatMap(({ yaml, sql }) => {
    const shape = checkEndpointShape(yaml);
    const own = shape.length === 0 ? checkEndpoint(yaml, sql) : [...shape, ...checkDraft(yaml, sql)];
    faults.push(...own);
    const isThere = sql.text.trim() !== ''; // a missing query has been reported
    const isWhole = own.length === 0 && isThere;
    if (isThere && !(isWhole && sourcesAreWhole)) drafts.push(sql);
    if (own.length === 0) warnings.push(...findNameWarning(yaml));
    const fileHash = hashOf(yaml.text, sql.text);
    const hash = hashEndpoint(fileHash, sources);
    return isWhole ? [createEndpoint(yaml, { sql, fileHash, hash, sources })] : [];
  });
  return { definitions: { endpoints, sources }, folders, faults, warnings, sourcesAreWhole, drafts };
}

/** @throws InputError with a line for each fault, in the order of files and lines */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const ordered = faults.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  throw new InputError(ordered.map(formatFault));
}

function checkEndpoint(yaml: YamlFile, sql: SqlFile): Fault[] {
  const faults = [...checkCaching(yaml), ...checkSandboxing(yaml, sql), ...checkParameters(yaml)];
  faults.push(...checkBucket(yaml, sql));
  if (sql.text.trim() !== '') faults.push(...checkParameterUse(yaml, sql));
  return faults;
}

/** What can be said of a query while its YAML has a wrong shape: whether it uses the parameters that are declared. */
function checkDraft(yaml: YamlFile, sql: SqlFile): Fault[] {
  if (!isMap(yaml.value) || sql.text.trim() === '') return [];
  const { parameters, bucket = {} } = endpointFields(yaml);
  const areNamed = isMap(parameters) && Object.keys(parameters).every((name) => PARAMETER_NAME.test(name));
  return areNamed && isMap(bucket) ? checkParameterUse(yaml, sql) : [];
}

const PARAMETER_NAME = /^[a-zA-Z]\w*$/;

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The later checks trust what the earlier ones proved, so the first that finds something ends the row. */
function firstFaults(checks: readonly (() => Fault[])[]): Fault[] {
  for (const check of checks) {
    const faults = check();
    if (faults.length > 0) return faults;
  }
  return [];
}

/** A query.sql. */
export interface SqlFile {
  readonly file: string;
  readonly text: string;
}

async function readManagedFiles(dir: string, faults: Fault[]): Promise<YamlFile[]> {
  const entries = await listFolder(dir, faults);
  const names = entries.filter(({ name, isFolder }) => !isFolder && /\.ya?ml$/.test(name)).map(nameOf);
  if (names.length === 0 && faults.length === 0) {
    faults.push({
      file: dir,
      line: 1,
      message: `has no source: add a <wire name>.yaml, as ${packagePath('docs/sources.md')} shows`,
    });
  }
  const read = await Promise.all(names.toSorted().map((name) => readYamlFile(join(dir, name))));
  return read.flatMap((file) => {
    if (!Array.isArray(file)) return [file];
    faults.push(...file);
    return [];
  });
}

async function readEndpointFiles(dir: string, faults: Fault[]): Promise<EndpointFiles> {
  const entries = await listFolder(dir, faults);
  const names = entries.filter(({ name, isFolder }) => isFolder && !name.startsWith('.')).map(nameOf);
  const pairs: { yaml: YamlFile; sql: SqlFile }[] = [];
  const drafts: SqlFile[] = [];
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
    if (!Array.isArray(yaml)) pairs.push({ yaml, sql });
    else faults.push(...yaml);
    if (Array.isArray(yaml) && sql.text.trim() !== '') drafts.push(sql);
  }
  return { pairs, drafts };
}

interface EndpointFiles {
  readonly pairs: { yaml: YamlFile; sql: SqlFile }[];
  /** Queries whose endpoint.yaml is missing or is no YAML. */
  readonly drafts: SqlFile[];
}

interface Entry {
  readonly name: string;
  readonly isFolder: boolean;
}

const nameOf = (entry: Entry) => entry.name;

/** Links count as what they lead to: folders that Kubernetes mounts hold nothing else. */
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

/** A link that leads nowhere is taken for a file, which is then reported as missing. */
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
