import { type Endpoint, PINNED_PREFIX, type ResultType } from '../definitions/endpoint.ts';
import type { Fault } from '../definitions/fault.ts';
import type { Engine } from '../engine/engine.ts';
import { messageOf } from '../errors.ts';
import { formatInstant, MICROS_PER_MS } from '../lib/instant.ts';
import { createRewriter } from '../sql/parameter.ts';
import { quote } from '../sql/quote.ts';
import { serviceValues } from './bucket-range.ts';
import { findSandboxFault } from './sandbox/verify.ts';
import { createStatement } from './statement.ts';
import { readQueryTree, readSyntaxTree, type SyntaxNode, SyntaxTreeError, walk } from './syntax-tree.ts';

/** Shows every stored query to the engine, which has the sources' tables: what it refuses is a fault of the definition. */
export async function verifyQueries(engine: Engine, endpoints: readonly Endpoint[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const endpoint of endpoints) faults.push(...(await verifyQuery(engine, endpoint)));
  return faults;
}

async function verifyQuery(engine: Engine, endpoint: Endpoint): Promise<Fault[]> {
  const values = sampleValues(endpoint);
  const sql = createSampleSql(endpoint, values);
  try {
    const unfit = await findUnfitAnywhere(engine, sql);
    if (unfit !== undefined) return [at(endpoint, 1, unfit)];
    // On the line of the bracket, so that the lines that the engine tells are those of the file.
    const described = await engine.inspect(`DESCRIBE TABLE (${sql}\n)`);
    const faults = compareColumns(endpoint, described);
    if (faults.length > 0) return faults;
    // As a caller's request will run it: on a reader, with its rights.
    await engine.query(`EXPLAIN ${createStatement(endpoint).sql}`, values, { format: 'TSVRaw' });
    const fault = await findSandboxFault(engine, endpoint, values);
    return fault === undefined ? [] : [at(endpoint, 1, fault)];
  } catch (error) {
    if (error instanceof SyntaxTreeError) return [at(endpoint, 1, error.message)];
    if (/;\s*$/.test(endpoint.sql)) return [at(endpoint, lastLine(endpoint.sql), ENDS_WITH_SEMICOLON)];
    const message = engineMessage(error);
    return [at(endpoint, findLine(message, endpoint.sql), message)];
  }
}

const NO_FILE = 'must not call file(): stored queries read tables only';
const ENDS_WITH_SEMICOLON = 'must not end with a semicolon: the query runs as a part of another';

function lastLine(sql: string): number {
  return sql.trimEnd().split('\n').length;
}

const NO_SYSTEM = 'must not read system tables: stored queries read the tables of sources only';
// The engine lets everyone read most of `system`: what other callers ask, with their values, and this machine's paths.
const SYSTEM = /^(?:system|information_schema)\./i;
// These name a table by a text, which may be one of those, and read it past the bounds of retention.
const BY_TEXT = /^(?:merge|loop|mergeTreeIndex|mergeTreeProjection|dictionary)$/i;

/**
 * What no stored query may hold, of both trees, as each shows what the other does not.
 *
 * @throws as `readSyntaxTree`
 */
export async function findUnfitAnywhere(engine: Engine, sql: string): Promise<string | undefined> {
  return findUnfit(await readSyntaxTree(engine, sql)) ?? findUnfitInside(await readQueryTree(engine, sql));
}

/** What in a parsed query no stored query may hold, and why; the engine's rights do not cover these. */
export function findUnfit(root: SyntaxNode): string | undefined {
  if (root.kind !== 'SelectWithUnionQuery') return 'must be one SELECT: stored queries only read';
  const nodes = [...walk(root)];
  if (nodes.some(({ kind }) => kind === 'Set'))
    return 'must not have SETTINGS: the limits are those of the service';
  const functions = nodes
    .filter(({ kind }) => kind === 'Function')
    .map(({ text }) => /^\w*/.exec(text)?.[0] ?? '');
  if (functions.some((name) => name.toLowerCase() === 'file')) return NO_FILE;
  if (nodes.some(({ kind, text }) => /^(?:Table)?Identifier$/.test(kind) && SYSTEM.test(text)))
    return NO_SYSTEM;
  const byText = functions.find((name) => BY_TEXT.test(name));
  return byText && noTableByText(byText);
}

/**
 * The same for what stands inside APPLY, which the parse tree leaves out, and for functions that are handed to another by their
 * name, as in `arrayMap(file, …)` and `* APPLY(file)`, which it shows as columns or not at all.
 */
function findUnfitInside(root: SyntaxNode): string | undefined {
  for (const { kind, text } of walk(root)) {
    if (kind === 'FUNCTION' && /\bfunction_name: file\b/i.test(text)) return NO_FILE;
    const [, name = ''] = (kind === 'IDENTIFIER' && /\bidentifier: (.*)$/.exec(text)) || [];
    if (/^file$/i.test(name))
      return `${NO_FILE}; a column of this name is written with its table's, such as logs.file`;
    // What a SELECT without FROM reads: one row, of nothing.
    if (SYSTEM.test(name) && name !== 'system.one') return NO_SYSTEM;
    const [, byText = ''] = (kind === 'TABLE_FUNCTION' && /\btable_function_name: (\w+)/.exec(text)) || [];
    if (BY_TEXT.test(byText)) return noTableByText(byText);
  }
  return undefined;
}

function noTableByText(name: string): string {
  return `must not call ${name}(): stored queries name the tables that they read`;
}

/** The stored query with a value of each parameter in its place. */
export function createSampleSql(endpoint: Endpoint, values = sampleValues(endpoint)): string {
  return createRewriter(endpoint.sql)((name) => quote(values[name] ?? ''));
}

const SAMPLE_MS = Date.UTC(2026, 0, 1);

/** A value of each parameter that its declaration allows. */
function sampleValues(endpoint: Endpoint): Record<string, string> {
  const { parameters, pinned } = endpoint;
  const values: Record<string, string> = {};
  for (const parameter of parameters) {
    const samples = {
      string: 'x',
      regex: 'x',
      timestamp: formatInstant(SAMPLE_MS * MICROS_PER_MS),
      enum: parameter.values[0] ?? '',
    };
    values[parameter.name] = parameter.fallback || samples[parameter.type];
  }
  for (const name of pinned) values[PINNED_PREFIX + name] = values[name] ?? '';
  return { ...values, ...serviceValues(endpoint, values, { instantMs: SAMPLE_MS }) };
}

const ENGINE_TYPES: Record<ResultType, RegExp> = {
  integer: /^U?Int\d+$/,
  number: /^(U?Int\d+|Float\d+|Decimal.*)$/,
  boolean: /^Bool$/, // not UInt8, which is written as 0 and 1
  string: /^(String|FixedString.*|UUID|Enum.*|Date.*|IPv[46])$/,
  json: /^String$/,
};

function compareColumns(endpoint: Endpoint, described: readonly Record<string, unknown>[]): Fault[] {
  const types = new Map(described.map((row) => [String(row['name']), bareType(String(row['type']))]));
  const faults: Fault[] = endpoint.columns.flatMap(({ name, type }) => {
    const given = types.get(name);
    if (given === undefined)
      return [at(endpoint, 1, `returns no column "${name}", which ${endpoint.file} declares`)];
    if (ENGINE_TYPES[type].test(given)) return [];
    return [
      at(
        endpoint,
        1,
        `column "${name}" is of type ${given}, which is not the ${type} that ${endpoint.file} declares`,
      ),
    ];
  });
  for (const name of types.keys()) {
    if (endpoint.columns.some((column) => column.name === name)) continue;
    faults.push(
      at(endpoint, 1, `returns a column "${name}", which ${endpoint.file} does not declare under "columns"`),
    );
  }
  return faults;
}

export function bareType(type: string): string {
  return type.replace(/^LowCardinality\((.*)\)$/, '$1').replace(/^Nullable\((.*)\)$/, '$1');
}

function at(endpoint: Endpoint, line: number, message: string): Fault {
  return { file: endpoint.sqlFile, line, message };
}

/** The engine's own words, whole: they go to the author of the query, who sees the data anyway. */
export function engineMessage(error: unknown): string {
  const full = messageOf(error);
  return full
    .replace(/^(?:(?:[\w ]*: )?Code: \d+\. DB::Exception: )+/, '')
    .replace(/(: )?In scope\b.*?(?=(?:\. Maybe you meant|\(\w+\)\s*$|$))/s, '')
    .replace(/Expected one of: .*$/s, '')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 400)
    .trim();
}

/** The engine tells the line of a syntax error; for an unknown name it is where the name first stands. */
export function findLine(message: string, sql: string): number {
  const told = /\(line (\d+), col/.exec(message)?.[1];
  if (told !== undefined) return Number(told);
  const name = /`([^`]+)`/.exec(message)?.[1] ?? /'([\w.]+)'/.exec(message)?.[1];
  const line =
    name === undefined
      ? -1
      : sql.split('\n').findIndex((text) => text.includes(name.split('.').at(-1) ?? name));
  return line === -1 ? 1 : line + 1;
}
