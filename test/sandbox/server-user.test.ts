import { beforeEach, describe, expect, test } from 'vitest';
import type { FrontRequest } from '../../trial/clickhouse-front.ts';
import { ownFront } from '../support/front.ts';
import { readSandboxUser, SANDBOX_USER } from '../support/sandbox-user.ts';
import { LEGITIMATE } from './legitimate.ts';
import { openSandbox } from './support.ts';

const password = 's3cret';
const users = { [SANDBOX_USER]: await readSandboxUser(password) };
const front = await ownFront('', { users });
const { ask } = await openSandbox({
  CLICKHOUSE_URL: front.url,
  CLICKHOUSE_READ_USER: 'reader:',
  CLICKHOUSE_SANDBOX_USER: `${SANDBOX_USER}:${password}`,
});
beforeEach(() => {
  front.requests.length = 0;
});

const projectOf = ({ settings }: FrontRequest): unknown =>
  (JSON.parse(settings.get('log_comment') ?? '{}') as { project?: string }).project;

describe('on a server with a user for callers’ SQL', () => {
  test('each statement that holds a caller’s text is run by that user, the checks among them', async () => {
    const mark = 'mark-4711';
    expect(await ask(`SELECT count() AS n, '${mark}' AS mark FROM app`)).toEqual([{ n: 30, mark }]);
    const holding = front.requests.filter(({ sql, address }) =>
      `${sql}${decodeURIComponent(address)}`.includes(mark),
    );
    expect(holding.map(({ user }) => user)).toEqual(Array(5).fill(SANDBOX_USER));
    expect(holding.map(({ sql }) => /^(?:EXPLAIN )?\w+ \S+/.exec(sql)?.[0])).toEqual([
      'SELECT formatQuerySingleLine({sql:String})',
      'EXPLAIN AST SELECT',
      'EXPLAIN QUERY TREE',
      'DESCRIBE TABLE',
      'SELECT *',
    ]);
    expect(holding.map(projectOf)).toEqual([undefined, undefined, undefined, undefined, 'p']);
  });

  test('a pattern of a caller’s SELECT that is rejected is checked by that user, too', async () => {
    const asked = ask('SELECT count() FROM app', { pattern: '[' });
    await expect(asked).rejects.toMatchObject({ code: 'invalid_parameter' });
    const checks = front.requests.filter(({ sql }) => /^SELECT replaceRegexpOne/.test(sql));
    expect(checks.map(({ user }) => user)).toEqual([SANDBOX_USER]);
  });

  test('every SELECT that callers may send is answered within the profile of users.sql', async () => {
    for (const sql of LEGITIMATE) await expect(ask(sql), sql).resolves.toBeInstanceOf(Array);
    const own = front.requests.filter(({ user }) => user === SANDBOX_USER);
    expect(own.length).toBeGreaterThanOrEqual(LEGITIMATE.length);
  });
});
