import { parseSql } from '../../sql/parse.ts';
import { findWithList } from '../../sql/with-list.ts';
import { endpointFields } from '../endpoint.ts';
import { type Fault, placeAt } from '../fault.ts';
import { SQL_PARAMETER } from '../parameter.ts';
import type { YamlFile } from '../yaml-file.ts';

/** Names of endpoints are dotted (spec 1). Earlier versions accepted names without a dot, so this is only a warning. */
export function findNameWarning(file: YamlFile): Fault[] {
  const { name } = endpointFields(file);
  const message = `"${name}" has no dot: names of endpoints are dotted, such as logs.${name}; it is served all the same`;
  return name.includes('.') ? [] : [file.fault(['name'], message)];
}

const CLOCK = new Set(['now', 'now64', 'nowinblock', 'today', 'yesterday', 'utctimestamp', 'utc_timestamp']);

/**
 * The engine's clock: a test cannot set it, and the parts of one answer may have different instants. A request has
 * `@now`.
 */
export function findClockWarning({ file, text }: { readonly file: string; readonly text: string }): Fault[] {
  const { words } = parseSql(text);
  const found = words.find(({ key }, i) => CLOCK.has(key.toLowerCase()) && words[i + 1]?.key === '(');
  if (found === undefined) return [];
  const message =
    `${found.text}() is the engine's clock: use @now, the instant of the request, which tests ` +
    'can set; it is served all the same';
  return [{ file, ...placeAt(text, found.start), message }];
}

/** Warming refreshes cached answers: it needs a cache, and an interval shorter than an answer's life (spec 2.1). */
export function checkCaching(file: YamlFile): Fault[] {
  const { caching, cache_warming: warming } = endpointFields(file);
  if (warming === undefined || (caching !== 'disabled' && warming < caching)) return [];
  const message =
    caching === 'disabled'
      ? '"cache_warming" needs caching; remove it or give "caching" in seconds'
      : `"cache_warming" must be less than "caching" (${caching} seconds), or an answer expires before its refresh`;
  return [file.fault(['cache_warming'], message)];
}

/** With sandboxing callers read the views of the stored query and send their SELECT in `sql`. */
export function checkSandboxing(file: YamlFile, sql: { text: string }): Fault[] {
  const { query_sandboxing: isOn, sql_dialect: dialect, caching, parameters = {} } = endpointFields(file);
  const faults: Fault[] = [];
  const report = (path: string[], message: string) => faults.push(file.fault(path, message));
  if (isOn !== true && dialect !== undefined)
    report(
      ['sql_dialect'],
      '"sql_dialect" is the dialect of the SELECTs that callers send if "query_sandboxing" is true',
    );
  if (isOn !== true) return faults;
  if (dialect !== undefined && caching !== 'disabled')
    report(
      ['caching'],
      '"caching" must be disabled with "sql_dialect": the bounds of a SELECT depend on the instant at which it arrived',
    );
  if (Object.hasOwn(parameters, SQL_PARAMETER))
    report(
      ['parameters', SQL_PARAMETER],
      '"sql" is where callers send their SELECT when "query_sandboxing" is true; take another name',
    );
  if (sql.text.trim() !== '' && findWithList(sql.text) === undefined)
    report(
      ['query_sandboxing'],
      '"query_sandboxing" needs a query with views that callers may read: WITH name AS (SELECT …) SELECT …',
    );
  return faults;
}
