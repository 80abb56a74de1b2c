import { afterEach, expect, test } from 'vitest';
import { openServerEngine } from '../../src/engine/server/server.ts';
import { fail, reply } from '../../trial/clickhouse-front.ts';
import { faultsIn } from '../support/faults.ts';
import { ownFront } from '../support/front.ts';
import { addressOf } from '../support/server-engine.ts';
import { SERVER_SIZE } from './open.ts';

const front = await ownFront();
afterEach(() => {
  front.intercept = undefined;
  front.requests.length = 0;
});

const open = (url = front.url, more = {}) =>
  openServerEngine({ ...SERVER_SIZE, address: { ...addressOf(url), ...more } });

/** Answers what the pattern matches with a text, as the server would. */
function answer(sql: RegExp, text: string): void {
  front.intercept = (request, response) => {
    if (!sql.test(request.sql)) return false;
    reply(request, response, Buffer.from(text));
    return true;
  };
}

test('a server of 26.3 or later is accepted, an earlier one is rejected', async () => {
  answer(/version\(\)/, '26.10.1.1\n');
  await (await open()).close();
  answer(/version\(\)/, '26.2.9.9\n');
  const why = `the server at ${front.url} is ClickHouse 26.2.9.9; Tailrace needs 26.3 or later`;
  expect((await faultsIn(open)).join()).toContain(`CLICKHOUSE_URL: ${why}`);
});

test.each([
  ['owner', 'CLICKHOUSE_URL'],
  ['reader', 'CLICKHOUSE_READ_USER'],
])('a wrong password of the %s is reported, and never shown', async (who, setting) => {
  front.intercept = (request, response) => {
    if (request.user !== who) return false;
    const text = `Code: 516. DB::Exception: ${who}: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)`;
    fail(request, response, text, 403);
    return true;
  };
  const accounts = { user: 'owner', password: 's3cret', readUser: 'reader', readPassword: 's3cret' };
  const [user, readUser] = who === 'owner' ? ['owner', 'other'] : ['other', 'reader'];
  const faults = (await faultsIn(() => open(front.url, { ...accounts, user, readUser }))).join();
  const why = `the server at ${front.url} rejects the user ${who}: wrong user or password`;
  expect(faults).toContain(`${setting}: ${why}`);
  expect(faults).not.toContain('s3cret');
});
