import { checkPair, type SqlFile } from '../definitions/checks/endpoint.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { type Fault, placeAt } from '../definitions/fault.ts';
import { createFromPair } from '../definitions/read.ts';
import type { Source } from '../definitions/source.ts';
import { YAML_TOKENS_MAX } from '../definitions/yaml-bounds.ts';
import { parseYaml, type YamlFile } from '../definitions/yaml-file.ts';
import { type ParameterFault, TailraceError } from '../errors.ts';
import { findWordFault } from '../sandbox/rejection.ts';

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
  const yaml = complete(parsed);
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
function complete(yaml: YamlFile): YamlFile {
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
export function refuseDraft(faults: readonly Fault[]): void {
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
