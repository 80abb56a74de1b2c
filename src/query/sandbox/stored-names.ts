import type { Engine } from '../../engine/engine.ts';
import { createRewriter } from '../../sql/parameter.ts';
import { quote } from '../../sql/quote.ts';
import type { WithList } from '../../sql/with-list.ts';

/** What the engine sees in the WITH list of a stored query. */
export interface StoredNames {
  /** Views, in order. */
  readonly views: readonly string[];
  /** Names given to expressions of the list, or within them. */
  readonly expressions: ReadonlySet<string>;
}

// The members of the WITH list of the outermost query; what is deeper belongs to the member before it.
const MEMBER = /^ {6}\S/;

/** Asks the engine for the names of a stored query's WITH list. @throws Error of the engine where it refuses the list */
export async function readStoredNames(engine: Engine, base: WithList): Promise<StoredNames> {
  // The tree is not resolved, so no value makes a difference; all are texts.
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
