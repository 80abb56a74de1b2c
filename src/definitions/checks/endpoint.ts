import { type Fault, placeAt } from '../../errors.ts';
import { findLimit, findParameters, findQuotedParameters, parseSql } from '../../sql/parse.ts';
import { findWithList } from '../../sql/with-list.ts';
import {
  checkEndpointShape,
  type EndpointFile,
  endpointFields,
  SQL_BOUNDS,
  SQL_INSTANT_PREFIX,
} from '../endpoint.ts';
import {
  CURSOR_PARAMETER,
  CURSOR_PREFIX,
  PAGE_FROM,
  PAGE_PARAMETERS,
  PAGE_SKIP,
  PAGE_UNTIL,
  parseOrder,
  TIME_COLUMN,
} from '../pages.ts';
import { NOW_PARAMETER, PINNED_PREFIX, readParameter, SQL_PARAMETER } from '../parameter.ts';
import { type FieldFault, type FieldFaults, toFaults, type YamlFile } from '../yaml-file.ts';
import { findChartFaults } from './chart.ts';

export interface SqlFile {
  readonly file: string;
  readonly text: string;
}

/**
 * Finds every fault of an endpoint's two files that needs neither the engine nor other definitions.
 * @returns `isReadable`: whether `createFromPair` can create the endpoint all the same, so that the engine can check the
 *   query, too
 */
export function checkPair(yaml: YamlFile, sql: SqlFile) {
  const shape = checkEndpointShape(yaml);
  if (shape.length > 0) return { faults: shape, isReadable: false };
  const fields = endpointFields(yaml);
  const { undeclared, unused } = checkParameterUse(yaml, sql);
  const unreadable = [
    ...toFaults(yaml, [...findSandboxFaults(fields, sql.text), ...findParameterFaults(fields)]),
    ...[...findPageFaults(fields, sql.text)].map((found) =>
      typeof found === 'string' ? { file: sql.file, line: 1, message: found } : yaml.fault(...found),
    ),
    ...undeclared,
  ];
  const others = toFaults(yaml, [...findCachingFaults(fields), ...findChartFaults(fields)]);
  const faults = [...others, ...unreadable, ...unused];
  return { faults, isReadable: unreadable.length === 0 };
}

/** Checks each declaration by itself: its name, the fields of its type, its default. */
function findParameterFaults({ parameters = {}, cursor }: EndpointFile) {
  const faults: FieldFault[] = [];
  for (const [name, declared] of Object.entries(parameters)) {
    const report = (field: string, message: string) => faults.push([['parameters', name, field], message]);
    const taken = findNameFault(name, cursor !== undefined);
    if (taken !== undefined) report('type', taken);
    readParameter(name, declared, (field, message) => report(field, `"${field}" of "${name}" ${message}`));
  }
  return faults;
}

const BOUNDS: readonly string[] = Object.values(SQL_BOUNDS);
/** Names that the service binds if there is a "cursor". */
const OF_CURSOR: readonly string[] = [CURSOR_PARAMETER, PAGE_SKIP, ...PAGE_PARAMETERS];

function findNameFault(name: string, hasCursor: boolean): string | undefined {
  if (name === NOW_PARAMETER || BOUNDS.includes(name))
    return `"${name}" is bound by the service; take another name`;
  const prefixes = [SQL_INSTANT_PREFIX, PINNED_PREFIX, ...(hasCursor ? [CURSOR_PREFIX] : [])];
  const prefix = prefixes.find((one) => name.startsWith(one));
  if (prefix !== undefined) return `"${name}" must not begin with ${prefix}: the service binds such names`;
  if (!hasCursor || !OF_CURSOR.includes(name)) return undefined;
  return `"${name}" is a name of the service if there is a "cursor"; take another name`;
}

// Faults of one kind: finding the place of each takes a time in proportion to the text.
const FAULTS_MAX = 20;

/**
 * Checks that every `@name` of the SQL is declared, and that every declared parameter is used. The engine can check a
 * query without the latter.
 */
function checkParameterUse(file: YamlFile, sql: SqlFile) {
  if (sql.text.trim() === '') return { undeclared: [], unused: [] };
  const { parameters = {}, cursor, sql_dialect: dialect } = endpointFields(file);
  const declared = Object.keys(parameters);
  const bound = new Set([
    NOW_PARAMETER,
    ...(dialect === undefined ? [] : BOUNDS),
    ...(cursor === undefined ? [] : PAGE_PARAMETERS),
    // findPageFaults checks the form of each order.
    ...(cursor?.by ?? []).map((order) => CURSOR_PREFIX + /^\w*/.exec(order.trim())?.[0]),
    ...declared.flatMap((name) => [name, PINNED_PREFIX + name]),
  ]);
  const uses = findParameters(sql.text);
  const undeclared = uses
    .filter((use) => !bound.has(use.name))
    .slice(0, FAULTS_MAX)
    .map(({ name, start }) => faultAt(sql, start, describeUndeclared(name, file)));
  const used = new Set<string | undefined>(uses.map((use) => use.name));
  if (used.has(PAGE_FROM)) for (const name of [cursor?.after, cursor?.until]) used.add(name);
  const unused = declared
    .filter((name) => !used.has(name) && findNameFault(name, false) === undefined) // findParameterFaults has those
    .slice(0, FAULTS_MAX);
  const quoted = unused.length === 0 ? new Map<string, number>() : findQuotedParameters(sql.text);
  const describeUnused = (name: string): Fault => {
    const at = quoted.get(name);
    if (at !== undefined)
      return faultAt(
        sql,
        at,
        `@${name} is in quotes, so it is plain text; write the parameter without quotes`,
      );
    const message = `parameter "${name}" is declared but @${name} is not used in ${sql.file}`;
    return { ...file.fault(['parameters', name], message), mayRun: true };
  };
  return { undeclared, unused: unused.map(describeUnused) };
}

function faultAt({ file, text }: SqlFile, offset: number, message: string): Fault {
  return { file, ...placeAt(text, offset), message };
}

function describeUndeclared(name: string, { file }: YamlFile): string {
  if (PAGE_PARAMETERS.some((one) => one === name)) return `@${name} needs "cursor" in ${file}`;
  if (BOUNDS.includes(name)) return `@${name} needs "sql_dialect" in ${file}`;
  const column = name.startsWith(CURSOR_PREFIX) ? name.slice(CURSOR_PREFIX.length) : '';
  if (column !== '') return `@${name} needs "${column}" in "by" of "cursor" in ${file}`;
  return `@${name} is not declared under "parameters" of ${file}`;
}

const CLOCK = new Set(['now', 'now64', 'nowinblock', 'today', 'yesterday', 'utctimestamp', 'utc_timestamp']);

/**
 * The engine's clock: a test cannot set it, and the parts of one answer may have different instants. A request has
 * `@now`.
 */
export function findClockWarning(sql: SqlFile): Fault[] {
  const { words } = parseSql(sql.text);
  const found = words.find(({ key }, i) => CLOCK.has(key.toLowerCase()) && words[i + 1]?.key === '(');
  if (found === undefined) return [];
  const instead = 'use @now, the instant of the request, which tests can set; it is served all the same';
  return [faultAt(sql, found.start, `${found.text}() is the engine's clock: ${instead}`)];
}

/** Warming refreshes cached answers: it needs a cache, and an interval shorter than an answer's life (spec 2.1). */
function* findCachingFaults({ caching, cache_warming: warming = 0 }: EndpointFile): FieldFaults {
  const at = ['cache_warming'];
  if (caching === 'disabled') {
    if (warming > 0) yield [at, '"cache_warming" needs caching; remove it or give "caching" in seconds'];
  } else if (warming >= caching) {
    const why = 'or an answer expires before its refresh';
    yield [at, `"cache_warming" must be less than "caching" (${caching} seconds), ${why}`];
  }
}

/** With sandboxing callers read the views of the stored query and send their SELECT in `sql`. */
function* findSandboxFaults(fields: EndpointFile, sql: string): FieldFaults {
  const { query_sandboxing: isOn, sql_dialect: dialect, caching, parameters = {} } = fields;
  if (isOn !== true) {
    const message =
      '"sql_dialect" is the dialect of the SELECTs that callers send if "query_sandboxing" is true';
    if (dialect !== undefined) yield [['sql_dialect'], message];
    return;
  }
  if (dialect !== undefined && caching !== 'disabled') {
    const why = 'the bounds of a SELECT depend on the instant at which it arrived';
    yield [['caching'], `"caching" must be disabled with "sql_dialect": ${why}`];
  }
  if (Object.hasOwn(parameters, SQL_PARAMETER)) {
    const message =
      '"sql" is where callers send their SELECT when "query_sandboxing" is true; take another name';
    yield [['parameters', SQL_PARAMETER], message];
  }
  if (sql.trim() !== '' && findWithList(sql) === undefined) {
    const message =
      '"query_sandboxing" needs a query with views that callers may read: WITH name AS (SELECT …) SELECT …';
    yield [['query_sandboxing'], message];
  }
}

/** A fault of the query, which has no place of its own, or of a field. */
type PageFault = string | FieldFault;

/**
 * Checks that a cursor orders by columns of the answer, that its pages are not larger than an answer, and that the
 * query continues after it.
 */
function* findPageFaults(fields: EndpointFile, sql: string): Generator<PageFault> {
  const { cursor, max_rows: rowsMax, query_sandboxing: sandboxing } = fields;
  if (cursor === undefined) return;
  yield* findSizeFaults(cursor.size, rowsMax, findLimit(sql));
  if (sandboxing === true)
    yield [['cursor'], '"cursor" cannot be combined with "query_sandboxing"; remove one of the two'];
  const names = cursor.by.map((text) => parseOrder(text)?.name);
  for (const [i, name] of names.entries()) {
    const isTwice = name !== undefined && names.indexOf(name) < i;
    const twice = isTwice ? `"by" has "${name}" twice; name each column once` : undefined;
    const wrong = findColumnFault(cursor.by[i] ?? '', name, fields) ?? twice;
    if (wrong !== undefined) yield [['cursor', 'by', i], wrong];
  }
  const used = new Set(findParameters(sql).map((use) => use.name));
  yield* findBoundFaults(fields, used);
  yield* findRangeFaults(fields, sql, used);
  for (const name of new Set(names)) {
    // The other columns decide between rows of the instant of @page_until.
    const continues = name === names[0] && names.length > 1 && used.has(PAGE_UNTIL);
    if (name === undefined || continues || used.has(CURSOR_PREFIX + name) || sql.trim() === '') continue;
    yield `must use @${CURSOR_PREFIX}${name}: with "cursor", ${CONTINUES}`;
  }
}

const CONTINUES =
  'a query continues after the row with these values, and begins at the first row if they are NULL';

function* findSizeFaults(size: number, rowsMax: number, limit = size): FieldFaults {
  const path = ['cursor', 'size'];
  if (size > rowsMax) yield [path, `"size" must be at most "max_rows", which is ${rowsMax}`];
  else if (limit < size) {
    const why = 'no page would ever be full';
    yield [path, `"size" must be at most the LIMIT of the query, which is ${limit}: ${why}`];
  }
}

/** Finds why pages cannot be ordered by an item of `by`. @param name the column that it names */
function findColumnFault(text: string, name: string | undefined, { columns }: EndpointFile) {
  if (name === undefined)
    return `"by" must name each column with its direction, asc or desc, such as timestamp desc, not ${JSON.stringify(text)}`;
  const type = Object.hasOwn(columns, name) ? columns[name]?.type : undefined;
  if (type === undefined) return `"${name}" must be one of "columns": ${Object.keys(columns).join(', ')}`;
  if (type === 'integer' || type === 'string') return undefined;
  return `"${name}" must be an integer or a string, not a ${type}: pages need exact values`;
}

/** Checks that `after` and `until` name parameters that the service can bind as the range of time. */
function* findBoundFaults({ cursor, parameters = {} }: EndpointFile, used: ReadonlySet<string>): FieldFaults {
  for (const field of ['after', 'until'] as const) {
    const name = cursor?.[field];
    if (name === undefined) continue;
    const type = Object.hasOwn(parameters, name) ? parameters[name]?.type : undefined;
    const path = ['cursor', field];
    if (type !== 'timestamp')
      yield [path, `"${field}" must name a parameter of type timestamp, not ${JSON.stringify(name)}`];
    else if (!used.has(PAGE_FROM))
      yield [path, `"${field}" needs a query that uses @${PAGE_FROM} and @${PAGE_UNTIL}`];
  }
}

const RANGE = `a page has the rows with ${TIME_COLUMN} >= @${PAGE_FROM} AND ${TIME_COLUMN} <= @${PAGE_UNTIL}`;

/** Checks that a query with a range of time reads both its ends, and that an answer is one page of the newest rows in it. */
function* findRangeFaults(
  { cursor, columns, max_rows: rowsMax }: EndpointFile,
  sql: string,
  used: ReadonlySet<string>,
): Generator<PageFault> {
  if (cursor === undefined || !PAGE_PARAMETERS.some((name) => used.has(name))) return;
  for (const name of PAGE_PARAMETERS) if (!used.has(name)) yield `must use @${name}: ${RANGE}`;
  const order = parseOrder(cursor.by[0] ?? '');
  const isTime = order?.name === TIME_COLUMN && columns[TIME_COLUMN]?.type === 'integer';
  if (!isTime || order.direction !== 'desc') {
    const expected = `${TIME_COLUMN} desc, an integer in microseconds since 1970`;
    yield [['cursor', 'by', 0], `"by" must begin with ${expected}: the query uses @${PAGE_FROM}`];
  }
  if (Math.min(findLimit(sql) ?? rowsMax, rowsMax) > cursor.size)
    yield `must end with LIMIT ${cursor.size}, the "size" of a page: with @${PAGE_FROM}, an answer has at most one page`;
}
