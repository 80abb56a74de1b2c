import { expect, test } from 'vitest';
import { findRightsFault } from '../../src/engine/server/start.ts';

const find = (grants: readonly string[], cluster = '') =>
  findRightsFault(grants, { database: 'tailrace', cluster });
const READS = 'GRANT SELECT ON tailrace.* TO u';

test.each([
  [[READS]],
  [['GRANT SELECT(id, project) ON tailrace.edge_logs TO u']],
  [['GRANT SELECT, SHOW TABLES ON `tailrace`.`edge_logs` TO u', 'GRANT SELECT ON otel.otel_logs TO u']],
  [[READS, 'REVOKE SELECT ON tailrace.audit FROM u']],
])('a user with %s may only read', (grants) => {
  expect(find(grants)).toBeUndefined();
});

test.each([
  ['GRANT SELECT, INSERT ON tailrace.* TO u'],
  ['GRANT SELECT ON *.* TO u'],
  ['GRANT SELECT ON `system`.`query_log` TO u'],
  ['GRANT SELECT ON tailrace.* TO u WITH GRANT OPTION'],
  ['GRANT KILL QUERY ON *.* TO u'],
  ['GRANT READ ON URL TO u'],
  ['GRANT r TO u'],
  ['a line that a later version writes'],
])('%s is rejected', (line) => {
  expect(find([READS, line])).toBe(`has a right that it must not have, ${line}`);
});

test('the other servers of a cluster may be read', () => {
  expect(find([READS, 'GRANT READ ON REMOTE TO u'], 'main')).toBeUndefined();
  expect(find([READS, 'GRANT READ, WRITE ON REMOTE TO u'], 'main')).toMatch(/READ, WRITE/);
});

test.each([[[]], [['GRANT SELECT ON tailrace_other.* TO u']], [['GRANT SHOW TABLES ON tailrace.* TO u']]])(
  'a user with %s reads nothing of ours',
  (grants) => {
    expect(find(grants)).toBe('may not read any table of tailrace');
  },
);
