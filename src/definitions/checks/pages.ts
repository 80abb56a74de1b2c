import { findLimit, findParameters } from '../../sql/parse.ts';
import { type EndpointFile, endpointFields } from '../endpoint.ts';
import type { Fault } from '../fault.ts';
import { CURSOR_PREFIX, PAGE_FROM, PAGE_PARAMETERS, PAGE_UNTIL, parseOrder, TIME_COLUMN } from '../pages.ts';
import type { YamlFile, YamlPath } from '../yaml-file.ts';

type Report = (path: YamlPath, message: string) => void;

/**
 * Checks that a cursor orders by columns of the answer, that its pages are not larger than an answer, and that the
 * query continues after it.
 */
export function checkPages(file: YamlFile, sql: { file: string; text: string }): Fault[] {
  const fields = endpointFields(file);
  const { cursor } = fields;
  if (cursor === undefined) return [];
  const faults: Fault[] = [];
  const report: Report = (path, message) => faults.push(file.fault(['cursor', ...path], message));
  const tooLarge = findSizeFault(fields, sql.text);
  if (tooLarge !== undefined) report(['size'], tooLarge);
  if (fields.query_sandboxing === true)
    report([], '"cursor" cannot be combined with "query_sandboxing"; remove one of the two');
  const names = cursor.by.map((text, i) => readColumn(text, fields, (message) => report(['by', i], message)));
  for (const [i, name] of names.entries())
    if (name !== undefined && names.indexOf(name) < i)
      report(['by', i], `"by" has "${name}" twice; name each column once`);
  const used = usedIn(sql.text);
  faults.push(...findBoundFaults(file, used), ...findRangeFaults(file, sql));
  for (const name of new Set(names)) {
    // The other columns decide between rows of the instant of @page_until.
    const continues = name === names[0] && names.length > 1 && used.has(PAGE_UNTIL);
    if (name === undefined || continues || used.has(CURSOR_PREFIX + name) || sql.text.trim() === '') continue;
    const message =
      `must use @${CURSOR_PREFIX}${name}: with "cursor", a query continues after the row with ` +
      'these values, and begins at the first row if they are NULL';
    faults.push({ file: sql.file, line: 1, message });
  }
  return faults;
}

/** Checks that `after` and `until` name parameters that the service can bind as the range of time. */
function* findBoundFaults(file: YamlFile, used: ReadonlySet<string>): Generator<Fault> {
  const { cursor, parameters = {} } = endpointFields(file);
  for (const field of ['after', 'until'] as const) {
    const name = cursor?.[field];
    if (name === undefined) continue;
    const type = Object.hasOwn(parameters, name) ? parameters[name]?.type : undefined;
    if (type !== 'timestamp')
      yield file.fault(
        ['cursor', field],
        `"${field}" must name a parameter of type timestamp, not ${JSON.stringify(name)}`,
      );
    else if (!used.has(PAGE_FROM))
      yield file.fault(
        ['cursor', field],
        `"${field}" needs a query that uses @${PAGE_FROM} and @${PAGE_UNTIL}`,
      );
  }
}

/** Checks that a query with a range of time reads both its ends, and that an answer is one page of the newest rows in it. */
function* findRangeFaults(file: YamlFile, sql: { file: string; text: string }): Generator<Fault> {
  const { cursor, columns, max_rows: rowsMax } = endpointFields(file);
  const used = usedIn(sql.text);
  if (cursor === undefined || !PAGE_PARAMETERS.some((name) => used.has(name))) return;
  for (const name of PAGE_PARAMETERS)
    if (!used.has(name)) yield { file: sql.file, line: 1, message: `must use @${name}: ${RANGE}` };
  const order = parseOrder(cursor.by[0] ?? '');
  if (order?.name !== TIME_COLUMN || order.direction !== 'desc' || columns[TIME_COLUMN]?.type !== 'integer')
    yield file.fault(
      ['cursor', 'by', 0],
      `"by" must begin with ${TIME_COLUMN} desc, an integer in microseconds since 1970: the query uses @${PAGE_FROM}`,
    );
  const limit = findLimit(sql.text) ?? rowsMax;
  if (Math.min(limit, rowsMax) <= cursor.size) return;
  const message =
    `must end with LIMIT ${cursor.size}, the "size" of a page: with @${PAGE_FROM}, an answer has ` +
    'at most one page';
  yield { file: sql.file, line: 1, message };
}

const RANGE = `a page has the rows with ${TIME_COLUMN} >= @${PAGE_FROM} AND ${TIME_COLUMN} <= @${PAGE_UNTIL}`;

function usedIn(sql: string): ReadonlySet<string> {
  return new Set(findParameters(sql).map((use) => use.name));
}

function findSizeFault({ cursor, max_rows: rowsMax }: EndpointFile, sql: string): string | undefined {
  const size = cursor?.size ?? 0;
  if (size > rowsMax) return `"size" must be at most "max_rows", which is ${rowsMax}`;
  const limit = findLimit(sql);
  if (limit === undefined || limit >= size) return undefined;
  return `"size" must be at most the LIMIT of the query, which is ${limit}: no page would ever be full`;
}

/** Returns the column that an item of `by` names; `undefined` if pages cannot be ordered by it. */
function readColumn(
  text: string,
  { columns }: EndpointFile,
  report: (message: string) => void,
): string | undefined {
  const order = parseOrder(text);
  if (order === undefined) {
    report(
      `"by" must name each column with its direction, asc or desc, such as timestamp desc, not ${JSON.stringify(text)}`,
    );
    return undefined;
  }
  const { name } = order;
  const type = Object.hasOwn(columns, name) ? columns[name]?.type : undefined;
  if (type === undefined) report(`"${name}" must be one of "columns": ${Object.keys(columns).join(', ')}`);
  else if (type !== 'integer' && type !== 'string')
    report(`"${name}" must be an integer or a string, not a ${type}: pages need exact values`);
  return name;
}
