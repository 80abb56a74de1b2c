import { type Dialect, type Endpoint, type ResultType, SQL_BOUNDS } from '../definitions/endpoint.ts';
import { createParameter } from '../definitions/parameter.ts';
import type { DialectView } from '../dialect/bigquery/relation.ts';
import type { Translation } from '../dialect/bigquery/translate.ts';
import type { Engine } from '../engine/engine.ts';
import { createSampleSql, createStatement } from '../query/statement.ts';
import { applyEdits, createRewriter } from '../sql/parse.ts';
import { trusted, type Values, writeValue } from '../sql/sql.ts';
import { findWithList, PLAIN_NAME } from '../sql/with-list.ts';

// More than any answer has. The engine cannot optimise this constant away.
const FENCE_ROWS = 1_000_000_000_000_000;

/** The WITH list of a stored query. */
interface Base {
  /** Names of its views, in order. */
  readonly views: readonly string[];
  /** `WITH …`, up to the final SELECT. */
  readonly sql: string;
}

/**
 * The stored query without its final SELECT, each view with a LIMIT around it that cuts nothing.
 *
 * The LIMIT is a fence. Without it the engine moves a caller's condition into the view and may evaluate it before the
 * view's own `project = @project`: whether `intDiv(1, message != 'x')` fails would then reveal whether another project
 * has that message.
 */
export function findBase({ sql }: Pick<Endpoint, 'sql'>): Base | undefined {
  const list = findWithList(sql);
  if (list === undefined) return undefined;
  const fences = list.views.flatMap(({ select: { start, end } }) => [
    { start, end: start, text: 'SELECT * FROM (' },
    { start: end, end, text: `\n) LIMIT ${FENCE_ROWS}` },
  ]);
  return { views: list.views.map(({ name }) => name), sql: applyEdits(sql.slice(0, list.end), fences) };
}

/** The endpoint of a caller's SELECT over the stored views. It is not kept warm, since few such texts are sent again. */
export function withSelect(endpoint: Endpoint, base: Base, select: string): Endpoint {
  return {
    ...endpoint,
    sql: `${base.sql}\nSELECT * FROM (\n${select}\n)`,
    sqlOrigin: 'select',
    columns: [],
    warmingSeconds: undefined,
    hash: `${endpoint.hash} ${select}`,
  };
}

/**
 * The endpoint with the instants of a translation as parameters, for the check of its text. No caller can send them a
 * value.
 */
export function withInstants(endpoint: Endpoint, { instants }: Pick<Translation, 'instants'>): Endpoint {
  const declared = Object.keys(instants).map((name) =>
    createParameter(name, { type: 'string', description: 'An instant of the SELECT.' }),
  );
  return { ...endpoint, parameters: [...endpoint.parameters, ...declared] };
}

/**
 * The views that a SELECT in another dialect may read, each with the columns of its table that it has.
 *
 * @param plain names of the views with a plain form
 */
export function findDialectViews(
  { tables }: Dialect,
  { views, read }: StoredNames,
  plain: ReadonlySet<string>,
): Map<string, DialectView> {
  const describe = (view: string) => {
    const names = read.get(view) ?? new Set();
    const columns = (tables.get(view) ?? []).filter(({ name }) => names.has(name));
    return { columns, ...(names.has(UNTYPED) && { untyped: UNTYPED }), hasPlain: plain.has(view) };
  };
  return new Map(views.map((view) => [view, describe(view)]));
}

/** The column of a view that has the metadata of events with a typed column that is NULL, and is empty for others. */
const UNTYPED = 'untyped';

/** The engine's message if an event has more than its typed columns show. */
export const UNTYPED_MESSAGE = 'an event has a value beside its typed columns';

/**
 * The endpoint of a caller's SELECT in another dialect, with what its translator knows.
 *
 * @param checked the endpoint of the stored query, and that of each SELECT of the translation
 */
export function withTranslation(
  { endpoint, whole, typed }: { endpoint: Endpoint; whole: Endpoint; typed: Endpoint | undefined },
  { columns, bounds, instants, typed: select }: Translation,
): Endpoint {
  const { from = '', until = '', id = '' } = bounds;
  const bound = { [SQL_BOUNDS.from]: from, [SQL_BOUNDS.until]: until, [SQL_BOUNDS.id]: id, ...instants };
  const own = {
    ...whole,
    parameters: endpoint.parameters,
    bound,
    columns: columns.map(({ name, type }) => ({ name, type: RESULT_TYPES[type], description: '' })),
    repeatedColumns: columns.flatMap(({ type }, i) => (type === 'record' ? [i] : [])),
    hash: `${whole.hash} ${JSON.stringify([columns, bound])}`,
  };
  if (typed === undefined || select === undefined) return own;
  // Outside of the SELECT, where no row of another project and no row that it leaves out can be seen.
  const check = ` WHERE NOT throwIf(\`${select.flag}\` > 0, ${writeValue(UNTYPED_MESSAGE)})`;
  return { ...own, typedFirst: { ...own, sql: typed.sql + check } };
}

const RESULT_TYPES: Readonly<Record<Translation['columns'][number]['type'], ResultType>> = {
  timestamp: 'integer',
  datetime: 'string',
  int64: 'integer',
  float64: 'number',
  bool: 'boolean',
  string: 'string',
  json: 'json',
  record: 'json',
};

/** The first name of a view that it may not have. @param tables names of all tables */
function findNameFault(stored: StoredNames, tables: ReadonlySet<string>): string | undefined {
  for (const [i, view] of stored.views.entries()) {
    if (!PLAIN_NAME.test(view))
      return `must not call a view "${view}": with query_sandboxing, names have letters, digits and underscores only`;
    if (stored.views.indexOf(view) < i)
      return `must not call a view "${view}": with query_sandboxing, no view has the name of another view`;
    const reader = tables.has(view) ? findReader(view, stored) : undefined;
    if (reader !== undefined)
      return (
        `must not read ${view} in ${reader === '' ? 'an expression of WITH' : `view "${reader}"`}: ` +
        'with query_sandboxing, only callers read a view with the name of a table, since elsewhere ' +
        'the engine may read the table'
      );
  }
  return undefined;
}

async function readTableNames(engine: Engine): Promise<ReadonlySet<string>> {
  const rows = await engine.inspect('SELECT name FROM system.tables WHERE database = currentDatabase()');
  return new Set(rows.map((row) => String(row['name'])));
}

/** The names in the WITH list of a stored query, as the engine reads it. */
export interface StoredNames {
  /** The list that they are in. */
  readonly base: Base;
  /** Views, in order. */
  readonly views: readonly string[];
  /** Aliases of expressions of the list, and within them. */
  readonly expressions: ReadonlySet<string>;
  /**
   * Member → the names that it reads or gives, without what follows a dot. The members are the views, and `''` for all
   * expressions.
   */
  readonly read: ReadonlyMap<string, ReadonlySet<string>>;
}

// A member of the WITH list of the outermost query; lines that are indented more belong to the member before them.
const MEMBER = /^ {6}\S/;

/** Asks the engine for the names of a stored query's WITH list. @throws Error of the engine if it rejects the list */
export async function readStoredNames(engine: Engine, base: Base): Promise<StoredNames> {
  // The tree is not resolved, so values make no difference to it.
  const sql = createRewriter(base.sql)((name) => writeValue(name));
  const rows = await engine.inspect(trusted(`EXPLAIN QUERY TREE run_passes = 0 ${sql}\nSELECT 1`));
  const lines = rows.map((row) => String(row['explain']));
  const end = lines.findIndex((line) => /^ {2}PROJECTION/.test(line));
  const views: string[] = [];
  const expressions = new Set<string>();
  const read = new Map<string, Set<string>>();
  let view: string | undefined; // the member that the line belongs to
  for (const line of lines.slice(0, end)) {
    if (MEMBER.test(line)) {
      view = / cte_name: (.*?)(?:, union_mode: \w+)?$/.exec(line)?.[1];
      if (view !== undefined) views.push(view);
    }
    const alias = findName(line, 'alias');
    if (view === undefined && alias !== undefined) expressions.add(alias);
    const names = [alias, findName(line, 'identifier')].filter((name) => name !== undefined);
    read.set(view ?? '', new Set([...(read.get(view ?? '') ?? []), ...names]));
  }
  return { base, views, expressions, read };
}

/** The first part of the name in a field of a line. */
function findName(line: string, field: string): string | undefined {
  return new RegExp(`\\b${field}: ([^ ,.]+)`).exec(line)?.[1];
}

/** A view or `''` (see `StoredNames`) that reads the view of this name; the view itself reads the table of its name. */
function findReader(view: string, { read }: StoredNames): string | undefined {
  return [...read].find(([member, names]) => member !== view && names.has(view))?.[0];
}

/**
 * Why a stored query cannot be sandboxed; `undefined` if it can. The views found in its text must be those that the
 * engine sees, and no name may have two meanings that a caller could choose from. @throws Error of the engine if it
 * rejects the views by themselves
 */
export async function findSandboxFault(
  engine: Engine,
  endpoint: Endpoint,
  values: Values,
): Promise<string | undefined> {
  if (!endpoint.sandboxing) return undefined;
  const { whole, typed } = findForms(endpoint);
  const fault = await findFormFault(engine, whole, values);
  return fault === undefined && typed !== whole ? await findFormFault(engine, typed, values) : fault;
}

async function findFormFault(
  engine: Engine,
  endpoint: Endpoint,
  values: Values,
): Promise<string | undefined> {
  const base = findBase(endpoint);
  if (base === undefined) return 'must be WITH name AS (SELECT …) SELECT …, for query_sandboxing';
  const stored = await readStoredNames(engine, base);
  const { views, expressions } = stored;
  if (JSON.stringify(views) !== JSON.stringify(base.views))
    return `must have plain views for query_sandboxing, name AS (SELECT …): the engine sees ${views.join(', ') || 'none'}`;
  const fault = findNameFault(stored, await readTableNames(engine));
  if (fault !== undefined) return fault;
  for (const view of views) {
    const select = { ...endpoint, sql: `${base.sql}\nSELECT * FROM \`${view}\`` };
    const sql = createSampleSql(select, values);
    const columns = await engine.inspect(trusted(`DESCRIBE TABLE (${sql}\n)`));
    // If an expression has the column's name, the engine reports the column as `view.column`.
    const names = columns.map((column) => String(column['name']).replace(`${view}.`, ''));
    const clash = names.find((name) => expressions.has(name));
    if (clash !== undefined)
      return (
        `must not give view "${view}" a column "${clash}": with query_sandboxing, no column has the ` +
        'name of an expression of WITH'
      );
  }
  // As a caller's SELECT runs: with the rights and limits of the user for callers' SQL.
  const all = views.map((view) => `SELECT 1 FROM \`${view}\``).join(' UNION ALL ');
  const { sql } = createStatement(withSelect(endpoint, base, all));
  await engine.query(`EXPLAIN ${sql}`, values, { format: 'TSVRaw', sandboxed: { project: undefined } });
  return undefined;
}

/** The stored query of an endpoint, as SELECTs in another dialect are put on it. */
interface Forms {
  readonly whole: Endpoint;
  /** Has the plain form of each view that has one; see `PLAIN`. */
  readonly typed: Endpoint;
  /** Names of the views with a plain form. */
  readonly plain: ReadonlySet<string>;
}

/**
 * After the name of a view: the same events and typed columns in one SELECT. No form of the query has a view of this
 * name: in the typed form its text stands for the text of the view, so that the view's name is a view of one project in
 * both, and the plain text reads the table of that name as the view does.
 */
const PLAIN = '_plain';

/** @returns twice the same endpoint if its queries are in the engine's own SQL, or no view has a plain form */
export function findForms(endpoint: Endpoint): Forms {
  const { sql, dialect } = endpoint;
  const views = dialect === undefined ? [] : (findWithList(sql)?.views ?? []);
  const byName = new Map(views.map((view) => [view.name, view]));
  const pairs = views.flatMap((view) => {
    const plain = byName.get(view.name + PLAIN);
    return plain === undefined ? [] : { view, plain };
  });
  if (pairs.length === 0) return { whole: endpoint, typed: endpoint, plain: new Set() };
  const cuts = pairs.map(({ plain: { member } }) => ({ ...member, text: '' }));
  const swaps = pairs.map(({ view, plain: { select } }) => ({
    ...view.select,
    text: sql.slice(select.start, select.end),
  }));
  return {
    whole: { ...endpoint, sql: applyEdits(sql, cuts) },
    typed: { ...endpoint, sql: applyEdits(sql, [...cuts, ...swaps]), hash: `${endpoint.hash} typed` },
    plain: new Set(pairs.map(({ view }) => view.name)),
  };
}
