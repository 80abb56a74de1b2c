import type { Endpoint } from '../../definitions/endpoint.ts';
import type { Engine } from '../../engine/engine.ts';
import { createRewriter } from '../../sql/parameter.ts';
import { quote } from '../../sql/quote.ts';
import { PLAIN_NAME } from '../../sql/with-list.ts';
import { createStatement, writeTypes } from '../statement.ts';
import { findBase, readStoredNames, withSelect } from './base.ts';

/**
 * Why a stored query cannot be sandboxed; `undefined` if it can. The views found in its text must be those that the engine sees, and no
 * name may have two meanings that a caller could choose from.
 *
 * @param values sample values of the endpoint's parameters
 * @throws Error of the engine if it refuses the views without the final SELECT
 */
export async function findSandboxFault(
  engine: Engine,
  endpoint: Endpoint,
  values: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (!endpoint.sandboxing) return undefined;
  const base = findBase(endpoint);
  if (base === undefined) return 'must be WITH name AS (SELECT …) SELECT …, for query_sandboxing';
  const { views, expressions } = await readStoredNames(engine, base);
  if (JSON.stringify(views) !== JSON.stringify(base.views))
    return `must have plain views for query_sandboxing, name AS (SELECT …): the engine sees ${views.join(', ') || 'none'}`;
  const tables = await engine.inspect('SELECT name FROM system.tables WHERE database = currentDatabase()');
  for (const [i, view] of views.entries()) {
    if (!PLAIN_NAME.test(view))
      return `must not call a view "${view}": with query_sandboxing, names have letters, digits and underscores only`;
    const isTable = tables.some((table) => table['name'] === view);
    if (isTable || views.indexOf(view) < i)
      return `must not call a view "${view}": with query_sandboxing, no view has the name of a table or of another view`;
    const select = { ...endpoint, sql: `${base.sql}\nSELECT * FROM \`${view}\`` };
    const sql = createRewriter(writeTypes(select))((name) => quote(values[name] ?? ''));
    const columns = await engine.inspect(`DESCRIBE TABLE (${sql}\n)`);
    // If an expression has the column's name, the engine reports the column as `view.column`.
    const names = columns.map((column) => String(column['name']).replace(`${view}.`, ''));
    const clash = names.find((name) => expressions.has(name));
    if (clash !== undefined)
      return `must not give view "${view}" a column "${clash}": with query_sandboxing, no column has the name of an expression of WITH`;
  }
  // As a caller's SELECT runs: with the rights and limits of the user for callers' SQL.
  const all = views.map((view) => `SELECT 1 FROM \`${view}\``).join(' UNION ALL ');
  const { sql } = createStatement(withSelect(endpoint, base, all));
  await engine.query(`EXPLAIN ${sql}`, values, { format: 'TSVRaw', sandboxed: { project: undefined } });
  return undefined;
}
