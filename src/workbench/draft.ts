import { stringify } from 'yaml';
import { checkPair, type SqlFile } from '../definitions/checks/endpoint.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { createFromPair } from '../definitions/read.ts';
import type { Source } from '../definitions/source.ts';
import { YAML_TOKENS_MAX } from '../definitions/yaml-bounds.ts';
import { parseYaml, type YamlFile } from '../definitions/yaml-file.ts';
import { type Fault, type ParameterFault, placeAt, TailraceError } from '../errors.ts';
import { findWordFault } from '../sandbox/syntax-tree.ts';

/** The two files of an endpoint that is being written. */
export interface DraftTexts {
  readonly definition: string;
  readonly sql: string;
}

export const YAML_FILE = 'endpoint.yaml';
export const SQL_FILE = 'query.sql';

/** A draft that was read. With `endpoint`, the engine can check the SQL. */
export interface Draft {
  readonly endpoint: Endpoint | undefined;
  readonly sql: SqlFile;
  readonly faults: readonly Fault[];
}

const TEXT_BYTES_MAX = 64 * 1024;

/**
 * Reads a draft as files are read. It may lack `id`, and `columns` unless it has pages: the endpoint then has no columns,
 * and those of the query count.
 */
export function readDraft(texts: DraftTexts, sources: readonly Source[]): Draft {
  const unfit = [...findLongTexts(texts), ...findNul(texts.sql), ...findDense(texts)];
  if (unfit.length > 0) return { endpoint: undefined, sql: { file: SQL_FILE, text: '' }, faults: unfit };
  const sql = { file: SQL_FILE, text: texts.sql };
  const parsed = parseDefinition(texts.definition);
  const isEmpty = texts.sql.trim() === '';
  const noSql = isEmpty ? [{ file: SQL_FILE, line: 1, message: 'is empty: it holds one SELECT' }] : [];
  if (Array.isArray(parsed)) return { endpoint: undefined, sql, faults: [...parsed, ...noSql] };
  const yaml = completeFields(parsed);
  const { faults: own, isReadable } = checkPair(yaml, sql);
  const faults = [...own, ...noSql];
  if (isEmpty || !isReadable) return { endpoint: undefined, sql, faults };
  const endpoint = createFromPair(yaml, sql, sources);
  const columns = hasColumns(parsed.value) ? endpoint.columns : [];
  return { endpoint: { ...endpoint, columns }, sql, faults };
}

/** `parseYaml` within the bounds of a draft: it runs on the event loop. */
export function parseDefinition(text: string, file = YAML_FILE): ReturnType<typeof parseYaml> {
  return parseYaml(file, text, YAML_TOKENS_MAX.draft);
}

/** Finds a text beyond the bound, which is not read further. */
export function findLong(file: string, text: string): Fault[] {
  const bytes = Buffer.byteLength(text);
  if (bytes <= TEXT_BYTES_MAX) return [];
  return [{ file, line: 1, message: `is ${bytes} bytes; the workbench accepts at most ${TEXT_BYTES_MAX}` }];
}

function findLongTexts({ definition, sql }: DraftTexts): Fault[] {
  return [...findLong(YAML_FILE, definition), ...findLong(SQL_FILE, sql)];
}

/** Checks the SQL on the event loop before anything else reads it. A text that is too long is not read further. */
function findDense(texts: DraftTexts): Fault[] {
  if (findLongTexts(texts).length > 0) return [];
  const message = findWordFault(texts.sql);
  return message === undefined ? [] : [{ file: SQL_FILE, line: 1, message }];
}

/** Finds U+0000, at which the engine would stop reading and report a broken message. */
function findNul(sql: string): Fault[] {
  const at = sql.indexOf('\0');
  if (at === -1) return [];
  return [{ file: SQL_FILE, ...placeAt(sql, at), message: 'holds the character U+0000; remove it' }];
}

const STAND_IN_ID = '00000000-0000-4000-8000-000000000000';
const STAND_IN_COLUMNS = { column: { type: 'string', description: '' } };

/** Fills in the fields that a draft may lack. */
function completeFields(yaml: YamlFile): YamlFile {
  const { value } = yaml;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return yaml;
  const mayLackColumns = !('cursor' in value) && !hasColumns(value);
  const completed = withId(yaml);
  return mayLackColumns
    ? { ...yaml, value: { ...Object(completed.value), columns: STAND_IN_COLUMNS } }
    : completed;
}

/** Fills in the id, which a draft may lack. */
export function withId(yaml: YamlFile): YamlFile {
  const { value } = yaml;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return yaml;
  return { ...yaml, value: { id: STAND_IN_ID, ...value } };
}

function hasColumns(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'columns' in value && value.columns !== null;
}

/** @throws TailraceError `invalid_definition` with the place of each fault, if there are any */
export function rejectDraft(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const lines = faults.map(({ file, line, message }) => `${file}:${line}: ${message}`);
  throw new TailraceError('invalid_definition', lines.join('; '), { errors: faults.map(toDraftError) });
}

/** A fault of a whole text has no line. */
export function toDraftError({ file, line, column, message }: Fault): DraftError {
  const parameter = file.endsWith(SQL_FILE) ? 'sql' : 'definition';
  if (column === undefined && line === 1) return { parameter, message };
  return { parameter, message, line, ...(column !== undefined && { column }) };
}

export interface DraftError extends ParameterFault {
  readonly parameter: 'definition' | 'sql';
}

interface Identity {
  /** The name of the file in messages. Default: endpoint.yaml. */
  readonly file?: string;
  readonly name: string;
  /** The id of the existing definition; `undefined`: it is new. */
  readonly id: string | undefined;
  readonly newId: () => string;
  /** Returns the name of the definition of its kind with a UUID. */
  readonly nameOf: (id: string) => string | undefined;
}

/**
 * Returns a definition with its name and UUID, each added as a line if it has none.
 *
 * @throws TailraceError `invalid_definition` if it has others: keys, clients and stored states know it by them
 */
export function complete(definition: string, { file, name, id, newId, nameOf }: Identity): string {
  const yaml = parseDefinition(definition, file);
  if (Array.isArray(yaml)) return definition; // the check reports its faults
  const fields = fieldsOf(yaml);
  if (fields === undefined) return definition;
  const owner = id === undefined ? nameOf(String(fields['id'])) : undefined;
  const faults = [
    ...(owner === undefined ? [] : [yaml.fault(['id'], takenFault(owner))]),
    ...(fields['name'] !== undefined && fields['name'] !== name
      ? [yaml.fault(['name'], nameFault(name))]
      : []),
    ...(id !== undefined && isOtherId(fields['id'], id) ? [yaml.fault(['id'], idFault(name, id))] : []),
  ];
  rejectDraft(faults);
  const lines = [
    ...(fields['id'] === undefined ? [`id: ${id ?? newId()}\n`] : []),
    ...(fields['name'] === undefined ? [`name: ${stringify(name)}`] : []),
  ];
  if (lines.length === 0) return definition;
  const completed = insertLines(definition, lines.join(''));
  const isWhole = fieldsOf(parseDefinition(completed))?.['id'] !== undefined;
  if (!isWhole) rejectDraft([yaml.fault([], `write ${lines.join(' and ').replaceAll('\n', '')}`)]);
  return completed;
}

function fieldsOf(yaml: YamlFile | unknown[]): Readonly<Record<string, unknown>> | undefined {
  if (Array.isArray(yaml)) return undefined;
  const { value } = yaml;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>; // a map of YAML
}

function isOtherId(given: unknown, known: string): boolean {
  return given !== undefined && String(given).toLowerCase() !== known.toLowerCase();
}

function nameFault(name: string): string {
  return `"name" must be ${name}, under which it is saved`;
}

function idFault(name: string, id: string): string {
  return `"id" must stay ${id}: ${name} is known by it`;
}

function takenFault(owner: string): string {
  return `"id" is that of ${owner}; leave the line out to get a new one`;
}

/** Adds lines at the top, but below `---`. */
function insertLines(definition: string, lines: string): string {
  const [start = ''] = /^\uFEFF?(?:\s*---[^\S\n]*\n)?/.exec(definition) ?? [];
  return start + lines + definition.slice(start.length);
}
