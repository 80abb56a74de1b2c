import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  type YAMLParseError,
} from 'yaml';
import { type Fault, messageOf, placeAt } from '../errors.ts';
import { findNodeFaults, findYamlExcess, YAML_TOKENS_MAX } from './yaml-bounds.ts';

const FILE_BYTES_MAX = 1024 * 1024;
// A document of a few nested aliases can stand for gigabytes; no definition needs more than a handful.
const ALIASES_MAX = 100;

// Faults of one text: a typing error at the top of a file can be followed by thousands.
const FAULTS_MAX = 20;

/**
 * `<<` merges a map, as in YAML 1.1 and common tools; YAML 1.2 has no such key. yaml-bounds.ts checks that keys are
 * unique, in linear time. Warnings would go to the process's own log.
 */
export const YAML_OPTIONS = { merge: true, uniqueKeys: false, logLevel: 'error' } as const;

/** Place of a value in the document, such as `['parameters', 'interval', 'values']`. */
export type YamlPath = readonly (string | number)[];

/** What is wrong with a value of a file. */
export type FieldFault = readonly [path: YamlPath, message: string];
export type FieldFaults = Generator<FieldFault>;

export function toFaults(file: YamlFile, faults: Iterable<FieldFault>): Fault[] {
  return [...faults].map(([path, message]) => file.fault(path, message));
}

export interface YamlFile {
  readonly file: string;
  readonly text: string;
  readonly value: unknown;
  fault(path: YamlPath, message: string): Fault;
}

/** Reads one YAML file, or returns every fault of its syntax. */
export async function readYamlFile(path: string): Promise<YamlFile | Fault[]> {
  const text = await readText(path);
  return typeof text === 'string' ? parseYaml(path, text) : [text];
}

/** Parses the text of a YAML file, as `readYamlFile` returns it. @param tokensMax see `YAML_TOKENS_MAX` */
export function parseYaml(
  path: string,
  text: string,
  tokensMax: number = YAML_TOKENS_MAX.file,
): YamlFile | Fault[] {
  const excess = findYamlExcess(text, tokensMax);
  if (excess !== undefined) return [{ file: path, ...placeAt(text, excess.offset), message: excess.message }];
  const lines = new LineCounter();
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) }; // an empty text has no lines
  };
  const toFault = ({ offset, message }: { offset: number; message: string }) => ({
    file: path,
    ...placeOf(offset),
    message,
  });
  const document = parseQuickly(text, lines);
  const faults = [
    ...document.errors
      .filter(({ pos }, i, all) => pos[0] !== all[i - 1]?.pos[0]) // one mistake in two words of the library
      .map((error) => ({ offset: error.pos[0], message: describe(error, text) })),
    ...document.warnings.flatMap(({ pos, code, message }) =>
      // Otherwise a value with an unknown tag would be read as a text.
      code === 'TAG_RESOLVE_FAILED' ? [{ offset: pos[0], message: `${message}; remove the tag` }] : [],
    ),
    ...findNodeFaults(document),
  ];
  if (faults.length > 0) return faults.slice(0, FAULTS_MAX).map(toFault);
  const findPlace = (at: YamlPath) => {
    // A missing field is reported at the nearest map that exists.
    for (let length = at.length; length >= 0; length--) {
      const start = startOf(document, at.slice(0, length));
      if (start !== undefined) return placeOf(start);
    }
    return { line: 1 };
  };
  try {
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    return { file: path, text, value, fault: (at, message) => ({ file: path, ...findPlace(at), message }) };
  } catch (error) {
    return [{ file: path, line: 1, message: messageOf(error) }];
  }
}

const SHOWN_CHARS_MAX = 60;

/**
 * Returns the first line of the library's message, which may name its own functions, or what a user would call the
 * fault.
 */
function describe({ code, pos, message }: YAMLParseError, text: string): string {
  if (code === 'MULTIPLE_DOCS') return 'has several documents; write each into its own file';
  if (code === 'BLOCK_AS_IMPLICIT_KEY')
    return 'the value is followed by another `name: value`; put the value in quotes, or indent the next line like this one';
  // It is reported where a name begins without a colon.
  if (!/^Implicit (?:map )?keys need/.test(message)) return message.split('\n')[0] ?? '';
  const [line = ''] = text.slice(pos[0], pos[0] + SHOWN_CHARS_MAX).split(/[\r\n]/);
  return `\`${line.trimEnd()}\` is not \`name: value\`; a colon may be missing`;
}

/** Parses without places and stacks in the errors: both take longer than parsing. */
function parseQuickly(text: string, lineCounter: LineCounter): Document.Parsed {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parseDocument(text, { ...YAML_OPTIONS, prettyErrors: false, lineCounter });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Returns the offset of a value's name: a map itself begins on the line after it. */
function startOf(document: Document.Parsed, at: YamlPath): number | undefined {
  const parent = document.getIn(at.slice(0, -1), true);
  const name = at.at(-1);
  const pair = isMap(parent)
    ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(name))
    : undefined;
  const node = pair?.key ?? (at.length === 0 ? document.contents : document.getIn(at, true));
  return isNode(node) ? node.range?.[0] : undefined;
}

/** Reads the text of a definition file; returns the fault if it cannot be read. */
export async function readText(path: string): Promise<string | Fault> {
  const fault = (message: string) => ({ file: path, line: 1, message });
  try {
    const bytes = await readFile(path);
    if (bytes.length <= FILE_BYTES_MAX) return bytes.toString('utf8');
    return fault(`is ${bytes.length} bytes; a definition file has at most ${FILE_BYTES_MAX}`);
  } catch (error) {
    return fault(describeFailure(error, 'is missing'));
  }
}

function describeFailure(error: unknown, missing: string): string {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  return isMissing ? missing : `cannot be read: ${messageOf(error)}`;
}

/** Reads the YAML files of a folder, by name. Adds the faults of those that cannot be read. */
export async function readYamlFolder(dir: string, faults: Fault[]): Promise<YamlFile[]> {
  const entries = await listFolder(dir, faults);
  const names = entries.flatMap(({ name, isFolder }) => (!isFolder && /\.ya?ml$/.test(name) ? [name] : []));
  const read = await Promise.all(names.toSorted().map((name) => readYamlFile(join(dir, name))));
  return read.flatMap((file) => {
    if (!Array.isArray(file)) return [file];
    faults.push(...file);
    return [];
  });
}

/** A kind of definition that is one YAML file. */
export interface FileKind<T> {
  /** What one is called. */
  readonly noun: string;
  /** Finds the faults of a file that need no other definition. */
  readonly check: (file: YamlFile) => Fault[];
  /** Creates the definition of a file in which `check` found no fault. */
  readonly create: (file: YamlFile) => T;
}

/** Reads the definitions of a folder, if there is one. Adds every fault that needs no definition of another kind. */
export async function readKind<T>(
  dir: string | undefined,
  { check, create }: FileKind<T>,
  faults: Fault[],
): Promise<T[]> {
  if (dir === undefined) return [];
  const files = await readYamlFolder(dir, faults);
  faults.push(...checkUnique(files, ['id', 'name']));
  return files.flatMap((file) => {
    const own = check(file);
    faults.push(...own);
    return own.length === 0 ? [create(file)] : [];
  });
}

/**
 * Lists a folder. Links are followed: folders that Kubernetes mounts hold nothing else. A broken link counts as a file:
 * it is reported as missing.
 */
export async function listFolder(
  dir: string,
  faults: Fault[],
): Promise<{ name: string; isFolder: boolean }[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    const list = entries.map(async (entry) => {
      const linked = entry.isSymbolicLink() && (await stat(join(dir, entry.name)).catch(() => undefined));
      return { name: entry.name, isFolder: (linked || entry).isDirectory() };
    });
    return await Promise.all(list);
  } catch (error) {
    faults.push({ file: dir, line: 1, message: `cannot be read as a folder: ${messageOf(error)}` });
    return [];
  }
}

/**
 * Checks that no two definitions of a kind share a value of a field, in any letter case. Ids and names share one
 * lookup, so no name is another's id.
 */
export function checkUnique(files: readonly YamlFile[], fields: readonly string[]): Fault[] {
  const ids = firstFiles(files, 'id');
  return fields.flatMap((field) => {
    const taken = firstFiles(files, field);
    return files.flatMap((file) => {
      const text = textOf(file, field);
      if (text === undefined) return [];
      const owners = [taken, ...(field === 'name' ? [ids] : [])].map((one) => one.get(text.toLowerCase()));
      const other = owners.find((owner) => owner !== undefined && owner !== file.file);
      if (other === undefined) return [];
      return [file.fault([field], `${field} ${JSON.stringify(text)} is already taken by ${other}`)];
    });
  });
}

/** The first file with each value of a field, in lower case. */
function firstFiles(files: readonly YamlFile[], field: string): Map<string | undefined, string> {
  return new Map(files.toReversed().map((file) => [textOf(file, field)?.toLowerCase(), file.file]));
}

/** Files of a wrong shape, which are reported elsewhere, are compared by the fields that they have. */
export function textOf(file: YamlFile, field: string): string | undefined {
  const value = (file.value as Record<string, unknown> | null)?.[field];
  return typeof value === 'string' ? value : undefined;
}

/** A file of the operator that a setting names. */
export interface OperatorFile {
  readonly setting: string;
  /** Bits of the mode that must not be set, and what is wrong with a file that has them. */
  readonly mode?: { readonly forbidden: number; readonly fault: string };
  /** Whether it holds secrets, so that no message may quote it. */
  readonly isSecret?: boolean;
}

/** Reads the file that a setting names, or returns why it is missing, open to every user or not YAML. */
export async function readOperatorFile(
  path: string,
  { setting, mode: rule, isSecret }: OperatorFile,
): Promise<YamlFile | Fault[]> {
  const fault = (message: string) => [{ file: path, line: 1, message }];
  try {
    const { mode } = await stat(path);
    if (rule !== undefined && (mode & rule.forbidden) !== 0)
      return fault(`${rule.fault} (mode ${(mode & 0o777).toString(8)})`);
  } catch (error) {
    return fault(describeFailure(error, `is missing; ${setting} names it`));
  }
  const file = await readYamlFile(path);
  return Array.isArray(file) && isSecret === true ? file.map(withoutQuotes) : file;
}

/** Cuts a message of the YAML library before what it quotes of the file. */
function withoutQuotes({ message, ...place }: Fault): Fault {
  return { ...place, message: `is not YAML: ${(message.split(/[:"'`*&]/, 1)[0] ?? '').trim()}` };
}
