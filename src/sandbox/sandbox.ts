import { LRUCache } from 'lru-cache';
import type { Dialect, Endpoint } from '../definitions/endpoint.ts';
import { SQL_PARAMETER } from '../definitions/parameter.ts';
import type { Engine, QueryOptions } from '../engine/engine.ts';
import { TailraceError } from '../errors.ts';
import { formatInstant, MICROS_PER_MS } from '../lib/instant.ts';
import type { RawParameters } from '../query/parameters.ts';
import { createSampleSql } from '../query/statement.ts';
import { parseSql } from '../sql/parse.ts';
import { createTimeZones } from './argument-rules.ts';
import {
  findBase,
  findDialectViews,
  findForms,
  readStoredNames,
  type StoredNames,
  withInstants,
  withSelect,
  withTranslation,
} from './base.ts';
import { canonicalise } from './canonical.ts';
import { checkQueryTree, checkTables, checkTree, checkViews, findViews } from './check-tree.ts';
import {
  invalidSql,
  parseQueryTree,
  parseSyntaxTree,
  type SyntaxNode,
  SyntaxTreeError,
} from './syntax-tree.ts';

export type SandboxOptions = Omit<QueryOptions, 'format'>;

/**
 * The endpoint that answers a request: the stored one, or, if it is sandboxed and the caller sent a SELECT in `sql`,
 * that SELECT over the stored views. Without sandboxing, `sql` is ignored like any undeclared parameter.
 *
 * @throws TailraceError `invalid_parameter` that names what is not allowed in the SELECT
 */
export type Sandbox = (endpoint: Endpoint, raw: RawParameters, options?: SandboxOptions) => Promise<Endpoint>;

// Longest SELECT of a caller, else 400: four pages of text, and within what the engine parses in any form
// (read-settings.ts).
export const SQL_BYTES_MAX = 16_384;
// Size of the cache of checked texts: clients send the same few texts again.
const CHECKED_BYTES_MAX = 8 * 1024 * 1024;
// More than there are stored queries with callers' SELECTs.
const STORED_MAX = 1_000;
// Far more than the tree of any text that a person writes.
const TREE_LINES_MAX = 20_000;
// Twice the allowed depth, in the tree that indents by four.
const TREE_INDENT_MAX = 1_000;

interface SandboxSettings {
  /** ms since the epoch: what a SELECT in another dialect has its bounds from. */
  readonly now?: () => number;
}

/**
 * Checks callers' SELECTs by the engine's own trees of them. A result is cached: it depends on the text, the endpoint's
 * definition and only the engine's version, not on tables that are created later (check-tree.ts).
 */
export function createSandbox(engine: Engine, { now = Date.now }: SandboxSettings = {}): Sandbox {
  const checked = new LRUCache<string, Endpoint>({
    maxSize: CHECKED_BYTES_MAX,
    sizeCalculation: (endpoint, key) => 2 * (key.length + endpoint.sql.length + endpoint.hash.length),
  });
  // By the text of the stored query: they depend only on it.
  const names = new LRUCache<string, StoredNames>({ max: STORED_MAX });
  let engineNames: ReturnType<typeof readEngineNames> | undefined;

  return async (endpoint, raw, options = {}) => {
    const sql = raw[SQL_PARAMETER];
    if (!endpoint.sandboxing || sql === undefined || sql === '') return endpoint;
    if (typeof sql !== 'string') throw invalidSql(`was sent ${sql.length} times; send it once`);
    if (Buffer.byteLength(sql) > SQL_BYTES_MAX)
      throw invalidSql(`must be at most ${SQL_BYTES_MAX} bytes long`);
    assertShortValues(endpoint, raw);
    if (endpoint.dialect === undefined) return await checkOnce(endpoint, sql, options, findTimeColumns);
    return await translateOnce(endpoint, { sql, dialect: endpoint.dialect, options });
  };

  /** The endpoint of a SELECT in another dialect. */
  async function translateOnce(
    endpoint: Endpoint,
    { sql, dialect, options }: { sql: string; dialect: Dialect; options: SandboxOptions },
  ): Promise<Endpoint> {
    const key = `${endpoint.id} ${endpoint.hash} ${dialect.name} ${sql}`;
    const known = checked.get(key);
    if (known !== undefined) return known;
    const { translateBigQuery } = await import('../dialect/bigquery/translate.ts'); // loaded for the first of them
    const stored = findForms(endpoint);
    const views = findDialectViews(dialect, await readNames(stored.whole), stored.plain);
    const instant = formatInstant(now() * MICROS_PER_MS);
    const translation = translateBigQuery(sql, { views, now: instant, dialect: dialect.name });
    const checkForm = (form: Endpoint, select: string) =>
      checkOnce(withInstants(form, translation), select, options);
    const [whole, typed] = await Promise.all([
      checkForm(stored.whole, translation.sql),
      translation.typed && checkForm(stored.typed, translation.typed.sql).catch(ignoreRejection),
    ]);
    const own = withTranslation({ endpoint, whole, typed }, translation);
    if (!BY_CLOCK.test(sql)) checked.set(key, own);
    return own;
  }

  async function readNames(endpoint: Endpoint): Promise<StoredNames> {
    const known = names.get(endpoint.sql);
    if (known !== undefined) return known;
    const base = findBase(endpoint);
    if (base === undefined) throw invalidSql(`cannot be taken: ${endpoint.name} has no view`);
    const stored = await readStoredNames(engine, base);
    names.set(endpoint.sql, stored);
    return stored;
  }

  /** The endpoint of a SELECT in the engine's own SQL, checked. @param findTimes which of its columns are times */
  async function checkOnce(
    endpoint: Endpoint,
    sql: string,
    options: SandboxOptions,
    findTimes?: typeof findTimeColumns,
  ): Promise<Endpoint> {
    const key = `${endpoint.id} ${endpoint.hash} ${sql}`;
    const known = checked.get(key);
    if (known !== undefined) return known;
    const storedNames = await readNames(endpoint);
    engineNames ??= readEngineNames(engine).catch((error: unknown) => {
      engineNames = undefined; // the next caller retries
      throw error;
    });
    const context = { engine, storedNames, options, ...(await engineNames) };
    const select = await check(endpoint, sql.toWellFormed(), context);
    const own = withSelect(endpoint, storedNames.base, select);
    const described = findTimes ? { ...own, timeColumns: await findTimes(engine, own, options) } : own;
    checked.set(key, described);
    return described;
  }
}

// Names that are quoted as they are. Others are those of expressions without AS.
const TIME_COLUMN = /^([^\\`\t]+)\t(?:Nullable\()?DateTime/;

async function findTimeColumns(engine: Engine, own: Endpoint, options: SandboxOptions): Promise<string[]> {
  const execution = { ...options, format: 'TSVRaw', sandboxed: { project: undefined } } as const;
  try {
    const { bytes } = await engine.query(`DESCRIBE TABLE (${createSampleSql(own)}\n)`, {}, execution);
    const lines = bytes.toString().split('\n');
    return [...new Set(lines.flatMap((line) => TIME_COLUMN.exec(line)?.[1] ?? []))];
  } catch (error) {
    // What fails with the sample values may run with the caller's, or fails again and is reported then.
    if (error instanceof TailraceError && error.status < 500) return [];
    throw error;
  }
}

/**
 * Without the typed form the answer is the same, only later. Any other error would be kept in the cache as a form
 * that is beyond a bound.
 */
function ignoreRejection(error: unknown): undefined {
  if (!(error instanceof TailraceError) || error.code !== 'invalid_parameter') throw error;
}

// With `current_timestamp()` the bounds of a SELECT are others each time.
const BY_CLOCK = /current_/i;

// A caller's SELECT may name a parameter some thousand times, and each is its value in the text that the engine gets.
const VALUE_BYTES_MAX = 1_000;

function assertShortValues({ parameters }: Endpoint, raw: RawParameters): void {
  const long = parameters.find(
    ({ name }) => Buffer.byteLength([raw[name] ?? ''].flat().join('')) > VALUE_BYTES_MAX,
  );
  if (long === undefined) return;
  throw invalidSql(
    `can be sent beside values of at most ${VALUE_BYTES_MAX} bytes; that of ${long.name} is longer`,
  );
}

interface CheckContext extends Awaited<ReturnType<typeof readEngineNames>> {
  readonly engine: Engine;
  readonly storedNames: StoredNames;
  readonly options: SandboxOptions;
}

/**
 * The SELECT in the engine's own spelling, proven to read only views and to be within the bounds. The engine's part
 * runs on a reader, within its limits. Each step is safe for any text that passed the steps before it: the engine shows
 * its tree before it resolves a name.
 */
async function check(endpoint: Endpoint, sql: string, context: CheckContext): Promise<string> {
  const { storedNames, engine, options, functions, zones } = context;
  const query = async (text: string, values = {}, otherwise = 'is not SQL that the engine accepts') => {
    const execution = { ...options, format: 'TSVRaw', sandboxed: { project: undefined } } as const;
    const { bytes } = await engine.query(text, values, execution).catch((error) => {
      throw toRejection(error, otherwise);
    });
    return bytes.toString();
  };
  const { checked, runs, parameterOf } = await canonicalise(endpoint, sql, (marked) =>
    query('SELECT formatQuerySingleLine(@sql)', { sql: marked }),
  );
  assertNoStoredNames(checked, storedNames);
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
      const isPattern = endpoint.parameters.some((one) => one.name === name && one.isPattern);
      return name === undefined ? undefined : isPattern ? 'pattern' : 'value';
    },
  });
  const lines = await explain('QUERY TREE run_passes = 0');
  checkQueryTree(lines);
  const queryTree = readTree(parseQueryTree, lines);
  const own = findViews(queryTree, storedNames.views);
  checkTables(tree, new Set([...storedNames.views, ...own]), storedNames.read.get('') ?? new Set());
  checkViews(queryTree, storedNames.views);
  zones.use(usedZones);
  return runs;
}

const NOT_A_SELECT =
  'must be one SELECT, without FORMAT, INTO OUTFILE or any other clause of a whole statement';

/**
 * The lines of a tree. Rejects those that are too large or too deep to walk: each level is indented by one space or
 * more.
 */
export function toLines(text: string): string[] {
  // After the last line there is an empty one. What follows one more than may be is not read.
  const all = text.split('\n', TREE_LINES_MAX + 2);
  if (all.length > TREE_LINES_MAX + 1) throw invalidSql('is too large: ask in several requests');
  const lines = all.filter((line) => line !== '');
  const deepest = lines.reduce((most, line) => Math.max(most, line.length - line.trimStart().length), 0);
  if (deepest > TREE_INDENT_MAX) throw invalidSql('is too deep: ask in several requests');
  return lines;
}

/** Names with other than letters, digits and underscores have been rejected, so each line of the engine is one node. */
function readTree(parse: (lines: readonly string[]) => SyntaxNode, lines: readonly string[]): SyntaxNode {
  try {
    return parse(lines);
  } catch (error) {
    throw error instanceof SyntaxTreeError ? invalidSql(error.message, error) : error;
  }
}

/** The caller gets the engine's message about its text; other errors, such as a timeout, stay as they are. */
function toRejection(error: unknown, message: string): unknown {
  if (!(error instanceof TailraceError) || error.code !== 'query_failed') return error;
  const [limit] = /TOO_(?:BIG|DEEP|SLOW)_\w+/.exec(error.message) ?? [];
  if (limit !== undefined)
    return invalidSql(`is beyond a limit of the engine, ${limit}: ask in several requests`, error);
  return invalidSql(`${message}: ${error.message}`, error);
}

/**
 * The engine resolves a view's names at each use: a caller's `0 AS days` would replace an expression that the view's
 * conditions need.
 */
function assertNoStoredNames(checked: string, { expressions }: StoredNames): void {
  if (![...expressions].some((name) => checked.includes(name))) return;
  for (const { kind, text } of parseSql(checked).words) {
    const name = kind === 'name' ? text.slice(1, -1) : text;
    if ((kind === 'name' || kind === 'word') && expressions.has(name))
      throw invalidSql(
        `must not use the name ${name}, which the stored query gives to one of its expressions`,
      );
  }
}

/** Reads the names of functions, in lower case, and time zones: they do not depend on what is stored. */
async function readEngineNames(engine: Engine) {
  const functions = await engine.inspect('SELECT lower(name) AS name FROM system.functions');
  const zones = await engine.inspect('SELECT time_zone FROM system.time_zones');
  return {
    functions: new Set(functions.map((row) => String(row['name']))),
    zones: createTimeZones(zones.map((row) => String(row['time_zone']))),
  };
}
