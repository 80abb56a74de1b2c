import type { Endpoint } from '../../definitions/endpoint.ts';
import { DATABASE } from '../../engine/embedded-config.ts';
import type { Engine } from '../../engine/engine.ts';
import { createRewriter } from '../../sql/parameter.ts';
import { quote } from '../../sql/quote.ts';
import { PLAIN_NAME } from '../../sql/with-list.ts';
import { createStatement } from '../statement.ts';
import { findBase, withSelect } from './base.ts';

const VIEW = /^ {6}(?:QUERY|UNION) id: \d+,.*, cte_name: ([^\n]*?)(?:, \w+: \w+)*$/;

/**
 * What keeps a stored query from being sandboxed, `undefined` where nothing does: its views, as this code finds them in the
 * text, must be those that the engine sees, and none may have the name of a table, which a caller could mean.
 *
 * @param values of the endpoint's parameters
 * @throws Error of the engine, where it does not take the views without the final SELECT
 */
export async function findSandboxFault(
  engine: Engine,
  endpoint: Endpoint,
  values: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (!endpoint.sandboxing) return undefined;
  const base = findBase(endpoint);
  if (base === undefined) return 'must be WITH name AS (SELECT …) SELECT …, for query_sandboxing';
  const sql = createRewriter(base.sql)((name) => quote(values[name] ?? ''));
  const lines = await engine.inspect(`EXPLAIN QUERY TREE run_passes = 0 ${sql}\nSELECT 1`);
  const seen = lines.flatMap((row) => VIEW.exec(String(row['explain']))?.[1] ?? []);
  if (JSON.stringify(seen) !== JSON.stringify(base.views))
    return `must have plain views for query_sandboxing, name AS (SELECT …): the engine sees ${seen.join(', ') || 'none'}`;
  const tables = await engine.inspect(`SELECT name FROM system.tables WHERE database = ${quote(DATABASE)}`);
  for (const view of base.views) {
    if (!PLAIN_NAME.test(view))
      return `must not call a view "${view}": with query_sandboxing, names have letters, digits and underscores only`;
    if (tables.some((table) => table['name'] === view))
      return `must not call a view "${view}": with query_sandboxing, no view has the name of a table`;
  }
  const all = base.views.map((view) => `SELECT 1 FROM \`${view}\``).join(' UNION ALL ');
  await engine.query(`EXPLAIN ${createStatement(withSelect(endpoint, base, all)).sql}`, values, {
    format: 'TSVRaw',
  });
  return undefined;
}
