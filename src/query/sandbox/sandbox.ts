import { LRUCache } from 'lru-cache';
import type { Endpoint } from '../../definitions/endpoint.ts';
import { SQL_PARAMETER } from '../../definitions/parameter.ts';
import type { Engine, QueryOptions } from '../../engine/engine.ts';
import { TailraceError } from '../../errors.ts';
import { scanTokens } from '../../sql/token.ts';
import type { RawParameters } from '../parameters.ts';
import { parseQueryTree, parseSyntaxTree, type SyntaxNode, SyntaxTreeError } from '../syntax-tree.ts';
import { findBase, readStoredNames, type StoredNames, withSelect } from './base.ts';
import { canonicalise } from './canonical.ts';
import { checkQueryTree, checkTables, checkTree } from './check-tree.ts';
import { refuseLarge } from './measure.ts';
import { bindNames, findViews, writeTree } from './names.ts';
import { refuse } from './refusal.ts';
import { createTimeZones, type TimeZones } from './time-zone.ts';
import { refuseWork } from './work.ts';

export type SandboxOptions = Omit<QueryOptions, 'format'>;

/**
 * The endpoint that answers a request: the stored one, or, if it is sandboxed and the caller sent a SELECT in `sql`, that SELECT
 * over the stored views. Without sandboxing, `sql` is ignored like any undeclared parameter.
 *
 * @throws TailraceError `invalid_parameter` that names what is not allowed in the SELECT
 */
export type Sandbox = (endpoint: Endpoint, raw: RawParameters, options?: SandboxOptions) => Promise<Endpoint>;

export interface SandboxLimits {
  /** Longest SELECT of a caller, UTF-8. */
  readonly sandboxSqlBytesMax: number;
}

// Size of the cache of checked texts: clients send the same few texts again.
const CHECKED_BYTES_MAX = 8 * 1024 * 1024;
// Far more than the tree of any text that a person writes.
const TREE_LINES_MAX = 20_000;
// Twice the allowed depth, in the tree that indents by four.
const TREE_INDENT_MAX = 1_000;

/** Names of the engine itself, which do not depend on what is stored. */
interface EngineNames {
  /** In lower case. */
  readonly functions: ReadonlySet<string>;
  readonly zones: TimeZones;
}

/**
 * Checks callers' SELECTs by the engine's own trees of them. A result is cached: it depends on the text, the endpoint's definition and
 * the engine's version alone, not on tables that are created later (names.ts).
 */
export function createSandbox(engine: Engine, { sandboxSqlBytesMax }: SandboxLimits): Sandbox {
  const checked = new LRUCache<string, Endpoint>({
    maxSize: CHECKED_BYTES_MAX,
    sizeCalculation: (endpoint, key) => 2 * (key.length + endpoint.sql.length + endpoint.hash.length),
  });
  const names = new WeakMap<Endpoint, StoredNames>();
  let engineNames: Promise<EngineNames> | undefined;

  function readEngineNames(): Promise<EngineNames> {
    engineNames ??= queryEngineNames(engine).catch((error: unknown) => {
      engineNames = undefined; // the next caller retries
      throw error;
    });
    return engineNames;
  }

  return async (endpoint, raw, options = {}) => {
    const sql = raw[SQL_PARAMETER];
    if (!endpoint.sandboxing || sql === undefined || sql === '') return endpoint;
    if (typeof sql !== 'string') throw refuse(`was sent ${sql.length} times; send it once`);
    if (Buffer.byteLength(sql) > sandboxSqlBytesMax)
      throw refuse(`must be at most ${sandboxSqlBytesMax} bytes long`);
    refuseLongValues(endpoint, raw);
    const key = `${endpoint.id} ${endpoint.hash} ${sql}`;
    const known = checked.get(key);
    if (known !== undefined) return known;
    const base = findBase(endpoint);
    if (base === undefined) throw refuse(`cannot be taken: ${endpoint.name} has no view`);
    const storedNames = names.get(endpoint) ?? (await readStoredNames(engine, base));
    names.set(endpoint, storedNames);
    const tables = await readNames(
      engine,
      'SELECT name FROM system.tables WHERE database = currentDatabase()',
    );
    const context = { engine, storedNames, tables, options, ...(await readEngineNames()) };
    const select = await check(endpoint, sql.toWellFormed(), context);
    const own = withSelect(endpoint, base, select);
    checked.set(key, own);
    return own;
  };
}

async function queryEngineNames(engine: Engine): Promise<EngineNames> {
  const functions = await readNames(engine, 'SELECT lower(name) AS name FROM system.functions');
  const zones = await readNames(engine, 'SELECT time_zone AS name FROM system.time_zones');
  return { functions, zones: createTimeZones(zones) };
}

// A caller's SELECT may search every text for a parameter's value: the work grows with the length of both.
const VALUE_BYTES_MAX = 1_000;

function refuseLongValues({ parameters }: Endpoint, raw: RawParameters): void {
  const long = parameters.find(
    ({ name }) => Buffer.byteLength([raw[name] ?? ''].flat().join('')) > VALUE_BYTES_MAX,
  );
  if (long === undefined) return;
  throw refuse(
    `can be sent beside values of at most ${VALUE_BYTES_MAX} bytes; that of ${long.name} is longer`,
  );
}

async function readNames(engine: Engine, sql: string): Promise<ReadonlySet<string>> {
  return new Set((await engine.inspect(sql)).map((row) => String(row['name'])));
}

interface CheckContext extends EngineNames {
  readonly engine: Engine;
  readonly storedNames: StoredNames;
  /** Existing tables: refused as names of views, so that no name means both. */
  readonly tables: ReadonlySet<string>;
  readonly options: SandboxOptions;
}

/**
 * The SELECT in the engine's own spelling, proven to read only views and to be within the bounds. The engine's part runs on a reader,
 * within its limits. Each step is safe for any text that passed the steps before it: the engine shows its tree before it resolves a name.
 */
async function check(endpoint: Endpoint, sql: string, context: CheckContext): Promise<string> {
  const { storedNames, engine, options, functions, zones, tables } = context;
  const query = async (text: string, values = {}, whenRefused = 'is not SQL that the engine takes') => {
    const how = { ...options, format: 'TSVRaw', sandboxed: { project: undefined } } as const;
    const { bytes } = await engine.query(text, values, how).catch((error) => {
      throw toRefusal(error, whenRefused);
    });
    return bytes.toString();
  };
  const { checked, runs, parameterOf } = await canonicalise(endpoint, sql, (marked) =>
    query('SELECT formatQuerySingleLine(@sql)', { sql: marked }),
  );
  refuseStoredNames(checked, storedNames);
  // Only a SELECT can stand in brackets: EXPLAIN itself would write the file of an INTO OUTFILE.
  const explain = async (what: string) =>
    toLines(await query(`EXPLAIN ${what} SELECT * FROM (\n${checked}\n)`, {}, NOT_A_SELECT));
  const usedZones = new Set<string>();
  const tree = readTree(parseSyntaxTree, await explain('AST'));
  checkTree(tree, {
    storedViews: storedNames.views,
    engineFunctions: functions,
    zones,
    usedZones,
    parameterKind: (text) => {
      const name = parameterOf(text);
      if (name === undefined) return undefined;
      return endpoint.parameters.find((one) => one.name === name)?.isPattern === true ? 'pattern' : 'value';
    },
  });
  const lines = await explain('QUERY TREE run_passes = 0');
  checkQueryTree(lines);
  const queryTree = readTree(parseQueryTree, lines);
  const own = findViews(queryTree);
  refuseTaken(own, storedNames.views, tables);
  checkTables(tree, new Set([...storedNames.views, ...own.keys()]));
  const names = bindNames(queryTree, storedNames.views);
  refuseLarge(queryTree, names);
  refuseWork(names);
  zones.use(usedZones);
  return runs;
}

const NOT_A_SELECT =
  'must be one SELECT, without FORMAT, INTO OUTFILE or any other clause of a whole statement';

/** Refuses trees that are too large or too deep to walk. Each level is indented by one space or more. */
function toLines(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length > TREE_LINES_MAX) throw refuse('is too large: ask in several requests');
  const deepest = lines.reduce((most, line) => Math.max(most, line.length - line.trimStart().length), 0);
  if (deepest > TREE_INDENT_MAX) throw refuse('is too deep: ask in several requests');
  return lines;
}

/** Names with other than letters, digits and underscores have been refused, so each line of the engine is one node. */
function readTree(parse: (lines: readonly string[]) => SyntaxNode, lines: readonly string[]): SyntaxNode {
  try {
    return parse(lines);
  } catch (error) {
    throw error instanceof SyntaxTreeError ? refuse(error.message, error) : error;
  }
}

/** The caller gets the engine's message about its text; other errors, such as a timeout, stay as they are. */
function toRefusal(error: unknown, message: string): unknown {
  if (!(error instanceof TailraceError) || error.code !== 'query_failed') return error;
  return refuse(`${message}: ${error.message}`, error);
}

/**
 * No view has the name of another, or of a table. In a UNION the engine copies the WITH of the first SELECT to the others: equal
 * views count as one.
 */
function refuseTaken(
  own: ReadonlyMap<string, readonly SyntaxNode[]>,
  stored: readonly string[],
  tables: ReadonlySet<string>,
): void {
  for (const [name, views] of own) {
    const isOne = new Set(views.map(writeTree)).size === 1;
    if (stored.includes(name) || tables.has(name) || !isOne)
      throw refuse(`must not call a view ${name}: the name is taken; give each a name of its own`);
  }
}

/**
 * The engine resolves names within a view where the view is used, so a caller's `0 AS days` would replace an expression of the stored
 * WITH that the view's conditions depend on.
 */
function refuseStoredNames(checked: string, { expressions }: StoredNames): void {
  if (![...expressions].some((name) => checked.includes(name))) return;
  for (const { kind, start, end } of scanTokens(checked)) {
    const text = checked.slice(start, end);
    const name = kind === 'name' ? text.slice(1, -1) : text;
    if ((kind === 'name' || kind === 'word') && expressions.has(name))
      throw refuse(`must not use the name ${name}, which the stored query gives to an expression of its own`);
  }
}
