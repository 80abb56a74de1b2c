import type { Endpoint } from '../../definitions/endpoint.ts';
import { findWithList, type WithList } from '../../sql/with-list.ts';

// More than any answer has. A constant that the engine cannot leave out.
const FENCE_ROWS = 1_000_000_000_000_000;

/**
 * The stored query without its final SELECT, each view with a LIMIT around it that cuts nothing.
 *
 * The LIMIT is a fence. Without it the engine moves a caller's condition into the view and may look at it before the view's
 * own `project = @project`: whether `intDiv(1, message != 'x')` fails would then tell whether another project has that message.
 */
export function findBase(endpoint: Pick<Endpoint, 'sql'>): WithList | undefined {
  return findWithList(endpoint.sql, (select) => `SELECT * FROM (${select}\n) LIMIT ${FENCE_ROWS}`);
}

/** Whether an endpoint is one that `withSelect` made: stored ones declare their columns. */
export function isCallersOwn(endpoint: Endpoint): boolean {
  return endpoint.columns.length === 0;
}

/** An endpoint whose query is the caller's SELECT over the stored views. It is not kept warm: its like come and go. */
export function withSelect(endpoint: Endpoint, base: WithList, select: string): Endpoint {
  return {
    ...endpoint,
    sql: `${base.sql}\nSELECT * FROM (\n${select}\n)`,
    columns: [], // whatever the caller selects
    warmingSeconds: undefined,
    hash: `${endpoint.hash} ${select}`,
  };
}
