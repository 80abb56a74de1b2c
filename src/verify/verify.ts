import type { SqlFile } from '../definitions/checks/endpoint.ts';
import type { Endpoint, ResultType } from '../definitions/endpoint.ts';
import type { Engine } from '../engine/engine.ts';
import type { Fault } from '../errors.ts';
import { JSON_FORMAT } from '../query/format.ts';
import { createSampleSql, createStatement, sampleValues } from '../query/statement.ts';
import { findSandboxFault } from '../sandbox/base.ts';
import { SyntaxTreeError } from '../sandbox/syntax-tree.ts';
import { createRewriter } from '../sql/parse.ts';
import { trusted, type Values, writeValue } from '../sql/sql.ts';
import { type FindDisallowed, findDisallowedAnywhere } from './disallowed-syntax.ts';
import { toFault } from './engine-fault.ts';

/** Has the engine, which has the tables of the sources, check every stored query. */
export async function verifyQueries(engine: Engine, endpoints: readonly Endpoint[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const endpoint of endpoints) faults.push(...(await verifyQuery(engine, endpoint)).faults);
  return faults;
}

/** The engine's judgement of a query. */
export interface Verified {
  readonly faults: readonly Fault[];
  /** The columns that it returns; empty if unknown. */
  readonly columns: readonly { readonly name: string; readonly type: ResultType }[];
}

/**
 * Checks one query. If an endpoint has no columns, they are not known yet.
 * @param findOwnDisallowed runs before the engine resolves a name
 */
export async function verifyQuery(
  engine: Engine,
  endpoint: Endpoint,
  findOwnDisallowed?: FindDisallowed,
): Promise<Verified> {
  const values = sampleValues(endpoint);
  const sql = createSampleSql(endpoint, values);
  const columns: { name: string; type: ResultType }[] = [];
  try {
    const disallowed = await findDisallowedAnywhere(engine, sql, findOwnDisallowed);
    if (disallowed !== undefined) return { faults: [at(endpoint, 1, disallowed)], columns };
    // The query begins on the line of the bracket, so that the engine's line numbers are those of the file.
    const described = await engine.inspect(trusted(`DESCRIBE TABLE (${sql}\n)`));
    columns.push(...described.map(toResultColumn));
    return { faults: await verifyUse(engine, endpoint, { values, described }), columns };
  } catch (error) {
    return { faults: [toQueryFault(endpoint, error)], columns };
  }
}

/** Checks the columns, and how requests run the query. @throws the engine's error */
async function verifyUse(
  engine: Engine,
  endpoint: Endpoint,
  { values, described }: { values: Values; described: readonly Record<string, unknown>[] },
): Promise<Fault[]> {
  const faults = compareColumns(endpoint, described);
  if (faults.length > 0) return faults;
  // As a request runs it: on a reader, with its rights.
  for (const sent of [createStatement(endpoint), createStatement(endpoint, JSON_FORMAT, values)])
    await engine.query(`EXPLAIN ${sent.sql}`, values, { format: 'TSVRaw' });
  const fault = await findSandboxFault(engine, endpoint, values);
  return fault === undefined ? [] : [at(endpoint, 1, fault)];
}

function toQueryFault(endpoint: Endpoint, error: unknown): Fault {
  const text = endpoint.sql.trimEnd();
  if (text.endsWith(';') && !(error instanceof SyntaxTreeError)) {
    const column = text.length - text.lastIndexOf('\n') - 1;
    return { ...at(endpoint, text.split('\n').length, ENDS_WITH_SEMICOLON), column };
  }
  const write = (name: string) => createSampleSql({ ...endpoint, sql: `@${name}` });
  return toFault({ file: endpoint.sqlFile, text: endpoint.sql }, error, write);
}

const ENDS_WITH_SEMICOLON = 'must not end with a semicolon: the query runs as a part of another';

const ENGINE_TYPES: Record<ResultType, RegExp> = {
  integer: /^U?Int\d+$/,
  number: /^(U?Int\d+|Float\d+|Decimal.*)$/,
  boolean: /^Bool$/, // not UInt8, which is written as 0 and 1
  string: /^(String|FixedString.*|UUID|Enum.*|Date.*|IPv[46])$/,
  json: /^String$/,
};

// The first that fits: an integer is a number, too.
const RESULT_TYPES = ['integer', 'number', 'boolean', 'string'] as const;

/** Maps a column's type; one that no column of an endpoint has, such as an array, is written as JSON. */
function toResultColumn(row: Record<string, unknown>): Verified['columns'][number] {
  const type = bareType(String(row['type']));
  const found = RESULT_TYPES.find((one) => ENGINE_TYPES[one].test(type));
  return { name: String(row['name']), type: found ?? 'json' };
}

function compareColumns(endpoint: Endpoint, described: readonly Record<string, unknown>[]): Fault[] {
  if (endpoint.columns.length === 0) return [];
  const types = new Map(described.map((row) => [String(row['name']), bareType(String(row['type']))]));
  const { file, columns } = endpoint;
  const messages: string[] = [];
  for (const { name, type } of columns) {
    const given = types.get(name);
    if (given === undefined) messages.push(`returns no column "${name}", which ${file} declares`);
    else if (!ENGINE_TYPES[type].test(given))
      messages.push(`column "${name}" is of type ${given}, which is not the ${type} that ${file} declares`);
  }
  for (const name of types.keys())
    if (!columns.some((column) => column.name === name))
      messages.push(`returns a column "${name}", which ${file} does not declare under "columns"`);
  const isNullable = (name: string) =>
    described.some((row) => row['name'] === name && String(row['type']).includes('Nullable('));
  for (const { name } of endpoint.pages?.by ?? [])
    if (isNullable(name))
      messages.push(
        `column "${name}" may be NULL, and ${file} orders pages by it; give it a value with ifNull`,
      );
  return messages.map((message) => at(endpoint, 1, message));
}

export function bareType(type: string): string {
  return type.replace(/^LowCardinality\((.*)\)$/, '$1').replace(/^Nullable\((.*)\)$/, '$1');
}

function at(endpoint: Endpoint, line: number, message: string): Fault {
  return { file: endpoint.sqlFile, line, message };
}

/** Parses queries with a faulty endpoint.yaml, so that one check reports both. Names and types are checked later. */
export async function verifyDrafts(engine: Engine, drafts: readonly SqlFile[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  // Any text in the place of a parameter is as good: the values do not change how a text is parsed.
  const write = () => writeValue('1');
  for (const draft of drafts) {
    try {
      const message = await findDisallowedAnywhere(engine, createRewriter(draft.text)(write));
      if (message !== undefined) faults.push({ file: draft.file, line: 1, message });
    } catch (error) {
      faults.push(toFault(draft, error, write));
    }
  }
  return faults;
}
