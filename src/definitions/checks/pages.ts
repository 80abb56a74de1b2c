import { findParameters } from '../../sql/parameter.ts';
import { type EndpointFile, endpointFields } from '../endpoint.ts';
import type { Fault } from '../fault.ts';
import { CURSOR_PREFIX, parseOrder } from '../pages.ts';
import type { YamlFile, YamlPath } from '../yaml-file.ts';

type Report = (path: YamlPath, message: string) => void;

/** A cursor orders by columns of the answer, its pages are no larger than an answer, and the query continues after it. */
export function checkPages(file: YamlFile, sql: { file: string; text: string }): Fault[] {
  const fields = endpointFields(file);
  const { cursor } = fields;
  if (cursor === undefined) return [];
  const faults: Fault[] = [];
  const report: Report = (path, message) => faults.push(file.fault(['cursor', ...path], message));
  const tooLarge = findSizeFault(fields, sql.text);
  if (tooLarge !== undefined) report(['size'], tooLarge);
  for (const field of ['bucket', 'query_sandboxing'] as const)
    if (fields[field] !== undefined && fields[field] !== false)
      report([], `"cursor" cannot be combined with "${field}"; remove one of the two`);
  const names = cursor.by.map((text, i) => readColumn(text, fields, (message) => report(['by', i], message)));
  for (const [i, name] of names.entries())
    if (name !== undefined && names.indexOf(name) < i)
      report(['by', i], `"by" has "${name}" twice; name each column once`);
  const used = new Set(findParameters(sql.text).map((use) => use.name));
  for (const name of new Set(names)) {
    if (name === undefined || used.has(CURSOR_PREFIX + name) || sql.text.trim() === '') continue;
    const message = `must use @${CURSOR_PREFIX}${name}: with "cursor", a query continues after the row with these values, and begins at the first row if they are NULL`;
    faults.push({ file: sql.file, line: 1, message });
  }
  return faults;
}

function findSizeFault({ cursor, max_rows: rowsMax }: EndpointFile, sql: string): string | undefined {
  const size = cursor?.size ?? 0;
  if (size > rowsMax) return `"size" must be at most "max_rows", which is ${rowsMax}`;
  const limit = /\bLIMIT\s+(\d+)\s*$/i.exec(sql)?.[1];
  if (limit === undefined || Number(limit) >= size) return undefined;
  return `"size" must be at most the LIMIT of the query, which is ${limit}: no page would ever be full`;
}

/** The column that an item of `by` names; `undefined` if it names none that pages can be ordered by. */
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
