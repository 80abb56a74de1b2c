import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { QueryOptions } from '../../src/engine/engine.ts';
import { openServerEngine } from '../../src/engine/server/server.ts';
import type { FrontUser } from '../../trial/clickhouse-front.ts';
import { faultsIn } from '../support/faults.ts';
import { ownFront } from '../support/front.ts';
import { readSandboxUser, SANDBOX_USER } from '../support/sandbox-user.ts';
import { addressOf } from '../support/server-engine.ts';
import { SERVER_SIZE } from './open.ts';

const PASSWORD = 's3cret';
const right = await readSandboxUser(PASSWORD);
const users: Record<string, FrontUser> = {
  [SANDBOX_USER]: right,
  reads_system: { ...right, mayReadSystem: true },
  writes: { ...right, grants: ['GRANT SELECT, INSERT ON tailrace.* TO writes'] },
  reads_others: { ...right, grants: ['GRANT SELECT ON other.* TO reads_others'] },
};
const front = await ownFront('', { users });
const accounts = { user: 'owner', readUser: 'reader' };

// The profile of the user allows 60 s.
const limits = { ...SERVER_SIZE.limits, timeoutMs: 30_000 };
const open = (sandbox: { user: string; password: string }) =>
  openServerEngine({ ...SERVER_SIZE, limits, address: { ...addressOf(front.url), ...accounts, sandbox } });
const sandbox = { user: SANDBOX_USER, password: PASSWORD };
const engine = await open(sandbox);
await engine.command('CREATE TABLE t (n UInt64, project String) ENGINE = MergeTree ORDER BY n');

beforeEach(() => {
  front.intercept = undefined;
  front.requests.length = 0;
});
afterAll(engine.close);

const CALLERS: QueryOptions = { format: 'TSVRaw', sandboxed: { project: 'p' } };
const usersSeen = () => [...new Set(front.requests.map(({ user }) => user))];

describe('a statement', () => {
  test('of a caller is run by the user for those, every other by the reader or the owner', async () => {
    await engine.query('SELECT 1', {}, CALLERS);
    expect(usersSeen()).toEqual([SANDBOX_USER]);
    front.requests.length = 0;
    await engine.query('SELECT 1', {}, { format: 'TSVRaw' });
    expect(usersSeen()).toEqual(['reader']);
    front.requests.length = 0;
    await engine.inspect('SELECT 1');
    const bytes = Buffer.from('[1,"p"]\n');
    const columns = ['n', 'project'];
    await engine.insert({ table: 't', columns, format: 'JSONCompactEachRow', bytes });
    expect(usersSeen()).toEqual(['owner']);
  });

  test('of a caller names the project for row policies, and the key for the quota', async () => {
    await engine.query('SELECT 1', {}, { ...CALLERS, origin: 'logs.all r', lane: 'key-id' });
    const [request] = front.requests;
    const comment = { origin: 'logs.all r', project: 'p' };
    expect(JSON.parse(request?.settings.get('log_comment') ?? '')).toEqual(comment);
    expect(request?.http.get('quota_key')).toBe('key-id');
    expect(request?.settings.get('readonly')).toBe('1');
    await engine.query('SELECT 1', {}, { ...CALLERS, sandboxed: { project: undefined } });
    expect(front.requests[1]?.settings.get('log_comment')).toBe('{}');
  });
});

test('callers’ SELECTs have connections and turns of their own, half as many, and never take those of others', async () => {
  const held: (() => void)[] = [];
  front.intercept = (request) => {
    if (request.user !== SANDBOX_USER) return false;
    return new Promise((resolve) => held.push(() => resolve(false)));
  };
  const slow = [1, 2, 3].map(() => engine.query('SELECT 1', {}, CALLERS));
  await vi.waitFor(() => expect(engine.gauges()).toMatchObject({ running: 1, queued: 2 }), 60_000);
  await vi.waitFor(() => expect(held).toHaveLength(1), 60_000);
  const others = [1, 2, 3].map(() => engine.query('SELECT 2', {}, { format: 'TSVRaw' }));
  expect((await Promise.all(others)).map(({ bytes }) => bytes.toString())).toEqual(['2\n', '2\n', '2\n']);
  expect(engine.gauges()).toMatchObject({ running: 1, queued: 2 });
  front.intercept = undefined;
  held[0]?.();
  await Promise.all(slow);
});

test.each([
  [
    'writes',
    'has a right that it must not have, GRANT SELECT, INSERT ON tailrace.* TO writes; grant it SELECT',
  ],
  ['reads_others', 'may not read any table of tailrace; grant it SELECT on the tables of Tailrace'],
  ['reads_system', 'may read system.query_log; set access_control_improvements.select_from_system_db'],
])('at start a user that %s is rejected', async (user, message) => {
  const faults = await faultsIn(() => open({ user, password: PASSWORD }));
  expect(faults.join()).toContain(`CLICKHOUSE_SANDBOX_USER: the user ${user} ${message}`);
});
