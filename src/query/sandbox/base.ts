import type { Endpoint } from '../../definitions/endpoint.ts';
import type { Engine } from '../../engine/engine.ts';
import { createRewriter } from '../../sql/parameter.ts';
import { quote } from '../../sql/quote.ts';
import { findWithList, type WithList } from '../../sql/with-list.ts';

// More than any answer has. The engine cannot optimise this constant away.
const FENCE_ROWS = 1_000_000_000_000_000;

/**
 * The stored query without its final SELECT, each view with a LIMIT around it that cuts nothing.
 *
 * The LIMIT is a fence. Without it the engine moves a caller's condition into the view and may evaluate it before the view's own
 * `project = @project`: whether `intDiv(1, message != 'x')` fails would then reveal whether another project has that message.
 */
export function findBase(endpoint: Pick<Endpoint, 'sql'>): WithList | undefined {
  return findWithList(endpoint.sql, (select) => `SELECT * FROM (${select}\n) LIMIT ${FENCE_ROWS}`);
}

/** Whether an endpoint is a caller's own SELECT, created by `withSelect`. */
export function isCallersOwn(endpoint: Endpoint): boolean {
  return endpoint.sqlOrigin === 'select';
}

/** The endpoint of a caller's SELECT over the stored views. It is not kept warm, since few such texts are sent again. */
export function withSelect(endpoint: Endpoint, base: WithList, select: string): Endpoint {
  return {
    ...endpoint,
    sql: `${base.sql}\nSELECT * FROM (\n${select}\n)`,
    sqlOrigin: 'select',
    columns: [],
    warmingSeconds: undefined,
    hash: `${endpoint.hash} ${select}`,
  };
}

/** The names in the WITH list of a stored query, as the engine reads it. */
export interface StoredNames {
  /** Views, in order. */
  readonly views: readonly string[];
  /** Aliases of expressions of the list, and within them. */
  readonly expressions: ReadonlySet<string>;
}

// A member of the WITH list of the outermost query; lines that are indented more belong to the member before them.
const MEMBER = /^ {6}\S/;

/** Asks the engine for the names of a stored query's WITH list. @throws Error of the engine if it refuses the list */
export async function readStoredNames(engine: Engine, base: WithList): Promise<StoredNames> {
  // The tree is not resolved, so values make no difference to it.
  const sql = createRewriter(base.sql)((name) => quote(name));
  const rows = await engine.inspect(`EXPLAIN QUERY TREE run_passes = 0 ${sql}\nSELECT 1`);
  const lines = rows.map((row) => String(row['explain']));
  const end = lines.findIndex((line) => /^ {2}PROJECTION/.test(line));
  const views: string[] = [];
  const expressions = new Set<string>();
  let isView = false;
  for (const line of lines.slice(0, end)) {
    const view = / cte_name: (.*?)(?:, union_mode: \w+)?$/.exec(line)?.[1];
    if (MEMBER.test(line)) {
      isView = view !== undefined;
      if (view !== undefined) views.push(view);
    }
    const alias = /, alias: ([^ ,]+)/.exec(line)?.[1];
    if (!isView && alias !== undefined) expressions.add(alias);
  }
  return { views, expressions };
}
