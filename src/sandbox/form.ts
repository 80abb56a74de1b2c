import type { Endpoint } from '../definitions/endpoint.ts';
import { applyEdits } from '../sql/edit.ts';
import { findWithList } from '../sql/with-list.ts';

/** The stored query of an endpoint, as SELECTs in another dialect are put on it. */
export interface Forms {
  readonly whole: Endpoint;
  /** Has the plain form of each view that has one; see `PLAIN`. */
  readonly typed: Endpoint;
  /** Names of the views with a plain form. */
  readonly plain: ReadonlySet<string>;
}

/**
 * After the name of a view: the same events and typed columns in one SELECT. No form of the query has a view of this name: in the typed
 * form its text stands for the text of the view, so that the view's name is a view of one project in both, and the plain text reads
 * the table of that name as the view does.
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
