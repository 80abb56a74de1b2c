import { type Static, Type } from 'typebox';
import { stringify } from 'yaml';
import { checkPair, type SqlFile } from '../definitions/checks/endpoint.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import { createFromPair, emptySql } from '../definitions/read.ts';
import type { Source } from '../definitions/source.ts';
import { parseYaml, YAML_TOKENS_MAX, type YamlFile } from '../definitions/yaml-file.ts';
import { type Fault, placeAt, TailraceError } from '../errors.ts';
import { closed } from '../lib/schema.ts';
import { findWordFault } from '../sandbox/syntax-tree.ts';

/** The two files of an endpoint that is being written. */
export const DRAFT = closed({ definition: Type.String(), sql: Type.String() });
export type DraftTexts = Readonly<Static<typeof DRAFT>>;

/** The version of the texts that were read before; null: there is no such definition yet. */
export const VERSION = Type.Union([Type.String(), Type.Null()], {
  expected: 'the version that was read, or null',
});

/** Values of parameters. */
export const VALUES = Type.Record(
  Type.String({ maxLength: 100 }),
  Type.Union([Type.String(), Type.Array(Type.String())], { expected: 'a string, or a list of strings' }),
  { maxProperties: 1_000, expected: 'an object of texts by parameter name' },
);

export const YAML_FILE = 'endpoint.yaml';
export const SQL_FILE = 'query.sql';

/** A draft that was read. With `endpoint`, the engine can check the SQL. */
export interface Draft {
  readonly endpoint: Endpoint | undefined;
  readonly sql: SqlFile;
  readonly faults: readonly Fault[];
}

const TEXT_BYTES_MAX = 64 * 1024;

/** Reads a draft as files are read. It may lack `id`, and `columns` unless it has pages: those of the query then count. */
export function readDraft(texts: DraftTexts, sources: readonly Source[]): Draft {
  const unfit = findUnfit(texts);
  if (unfit.length > 0) return { endpoint: undefined, sql: { file: SQL_FILE, text: '' }, faults: unfit };
  const sql = { file: SQL_FILE, text: texts.sql };
  const parsed = parseDefinition(texts.definition);
  const noSql = texts.sql.trim() === '' ? [emptySql(SQL_FILE)] : [];
  if (Array.isArray(parsed)) return { endpoint: undefined, sql, faults: [...parsed, ...noSql] };
  const yaml = completeFields(parsed);
  const { faults: own, isReadable } = checkPair(yaml, sql);
  const faults = [...own, ...noSql];
  if (noSql.length > 0 || !isReadable) return { endpoint: undefined, sql, faults };
  const endpoint = createFromPair(yaml, sql, sources);
  const columns = hasColumns(parsed) ? endpoint.columns : [];
  return { endpoint: { ...endpoint, columns }, sql, faults };
}

/** `parseYaml` within the bounds of a draft: it runs on the event loop. */
export function parseDefinition(text: string, file = YAML_FILE) {
  return parseYaml(file, text, YAML_TOKENS_MAX.draft);
}

/** Finds a text beyond the bound, which is not read further. */
export function findLong(file: string, text: string): Fault[] {
  const bytes = Buffer.byteLength(text);
  if (bytes <= TEXT_BYTES_MAX) return [];
  return [{ file, line: 1, message: `is ${bytes} bytes; the workbench accepts at most ${TEXT_BYTES_MAX}` }];
}

/** Finds what keeps the texts from being read further, on the event loop and by the engine. */
function findUnfit({ definition, sql }: DraftTexts): Fault[] {
  const long = [...findLong(YAML_FILE, definition), ...findLong(SQL_FILE, sql)];
  if (long.length > 0) return long;
  // At U+0000 the engine would stop reading and report a broken message.
  const at = sql.indexOf('\0');
  if (at !== -1)
    return [{ file: SQL_FILE, ...placeAt(sql, at), message: 'holds the character U+0000; remove it' }];
  const dense = findWordFault(sql);
  return dense === undefined ? [] : [{ file: SQL_FILE, line: 1, message: dense }];
}

const STAND_IN_ID = '00000000-0000-4000-8000-000000000000';
const STAND_IN_COLUMNS = { column: { type: 'string', description: '' } };

/** Fills in the fields that a draft may lack. */
function completeFields(yaml: YamlFile): YamlFile {
  const completed = withId(yaml);
  const fields = fieldsOf(completed);
  if (fields === undefined || 'cursor' in fields || hasColumns(yaml)) return completed;
  return { ...completed, value: { ...fields, columns: STAND_IN_COLUMNS } };
}

/** Fills in the id, which a draft may lack. */
export function withId(yaml: YamlFile): YamlFile {
  const fields = fieldsOf(yaml);
  return fields === undefined ? yaml : { ...yaml, value: { id: STAND_IN_ID, ...fields } };
}

function hasColumns(yaml: YamlFile): boolean {
  return (fieldsOf(yaml)?.['columns'] ?? null) !== null;
}

/** @throws TailraceError `invalid_definition` with the place of each fault, if there are any */
export function rejectDraft(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const lines = faults.map(({ file, line, message }) => `${file}:${line}: ${message}`);
  throw new TailraceError('invalid_definition', lines.join('; '), { errors: faults.map(toDraftError) });
}

/** A fault of a whole text has no line. */
export function toDraftError({ file, line, column, message }: Fault) {
  const parameter = file.endsWith(SQL_FILE) ? ('sql' as const) : ('definition' as const);
  if (column === undefined && line === 1) return { parameter, message };
  return { parameter, message, line, ...(column !== undefined && { column }) };
}

interface Identity {
  /** The name of the file in messages. */
  readonly file: string;
  readonly name: string;
  readonly newId: () => string;
  /** The definitions of its kind. */
  readonly served: readonly { readonly id: string; readonly name: string }[];
}

/**
 * Returns a definition with its name and UUID, each added as a line if it has none.
 * @throws TailraceError `invalid_definition` if it has others: keys, clients and stored states know it by them
 */
export function complete(definition: string, { file, name, newId, served }: Identity): string {
  const yaml = parseDefinition(definition, file);
  if (Array.isArray(yaml)) return definition; // the check reports its faults
  const fields = fieldsOf(yaml);
  if (fields === undefined) return definition;
  const id = served.find((one) => one.name === name)?.id;
  const given = String(fields['id']).toLowerCase();
  const owner = id === undefined ? served.find((one) => one.id === given)?.name : undefined;
  const faults: Fault[] = [];
  const reject = (field: string, message: string) =>
    faults.push(yaml.fault([field], `"${field}" ${message}`));
  if (owner !== undefined) reject('id', `is that of ${owner}; leave the line out to get a new one`);
  if (isOther(fields['name'], name)) reject('name', `must be ${name}, under which it is saved`);
  if (isOther(fields['id'], id)) reject('id', `must stay ${id}: ${name} is known by it`);
  rejectDraft(faults);
  const lines = [
    ...(fields['id'] === undefined ? [`id: ${id ?? newId()}\n`] : []),
    ...(fields['name'] === undefined ? [`name: ${stringify(name)}`] : []),
  ];
  if (lines.length === 0) return definition;
  // At the top, but below `---`.
  const [start = ''] = /^\uFEFF?(?:\s*---[^\S\n]*\n)?/.exec(definition) ?? [];
  const completed = start + lines.join('') + definition.slice(start.length);
  const isWhole = fieldsOf(parseDefinition(completed, file))?.['id'] !== undefined;
  if (!isWhole) rejectDraft([yaml.fault([], `write ${lines.join(' and ').replaceAll('\n', '')}`)]);
  return completed;
}

function fieldsOf(yaml: YamlFile | unknown[]): Readonly<Record<string, unknown>> | undefined {
  if (Array.isArray(yaml)) return undefined;
  const { value } = yaml;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>; // a map of YAML
}

function isOther(given: unknown, known: string | undefined): boolean {
  if (given === undefined || known === undefined) return false;
  return String(given).toLowerCase() !== known.toLowerCase();
}
