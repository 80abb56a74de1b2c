import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import { isAllowedFunction } from '../../src/sandbox/function.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { BOUNDS } from '../../src/sandbox/syntax-tree.ts';
import { rejectionOf } from '../support/keys.ts';
import { runs, scale } from '../support/property.ts';
import { ATTACKS } from './attacks.ts';
import { ESCAPES } from './escapes.ts';
import { LEGITIMATE } from './legitimate.ts';
import { CANARY, openSandbox, SQL } from './support.ts';

const { core, stored, check, ask, tryAsk, canaryFile } = await openSandbox();

const escapes = Object.entries(ESCAPES).flatMap(([kind, texts]) =>
  texts.map((text) => [kind, text.replaceAll('@file@', canaryFile)] as const),
);

/** The message with which a text is rejected before it runs. */
async function rejection(sql: string): Promise<string> {
  const accepted = () => Promise.reject(new Error(`${sql} was not rejected`));
  const error = await rejectionOf(check(sql).then(accepted));
  expect(error.code).toBe('invalid_parameter');
  expect(error.errors).toEqual([{ parameter: 'sql', message: expect.stringMatching(/\S/) }]);
  expect(error.message).not.toContain(CANARY);
  return error.message;
}

describe('escapes', () => {
  test.each(escapes)('by %s are rejected before they run: %s', async (_, sql) => {
    await rejection(sql);
  });

  test('leave no file, no table, no function behind', async () => {
    expect(existsSync(`${canaryFile}.out`)).toBe(false);
    const tables = await core.engine.inspect("SELECT name FROM system.tables WHERE database = 'tailrace'");
    expect(tables.map((row) => row['name']).sort()).toEqual(['app_logs', 'secret_logs']);
  });

  // Each of the engine's own names, so that a new version of it opens nothing.
  test('by a function that is not listed are rejected, by its name as a call and as a value', async () => {
    const rows = await core.engine.inspect('SELECT name FROM system.functions');
    const all = rows.map((row) => String(row['name'])).filter((name) => !isAllowedFunction(name));
    const others = all.filter((name) => !/^timestamp_diff$/i.test(name)); // the engine reads timestampDiff, which is listed
    expect(others.length).toBeGreaterThan(800);
    for (const [i, name] of others.entries())
      await rejection(`SELECT ${i % 2 === 0 ? `\`${name}\`(id)` : `arrayMap(\`${name}\`, [id])`} FROM app`);
  });

  test('by a table function are rejected, and none can be called', async () => {
    const rows = await core.engine.inspect('SELECT name FROM system.table_functions');
    const names = rows.map((row) => String(row['name']));
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter(isAllowedFunction)).toEqual([]);
    for (const name of names) await rejection(`SELECT * FROM app, \`${name}\`('@file@')`);
  });
});

test.each(Object.entries(ATTACKS))(
  'texts that the engine’s limits do not end are rejected before it resolves a name: %s',
  async (_, texts) => {
    for (const sql of texts) await rejection(sql);
  },
);

test('a function means the same in either letter case', async () => {
  const rows = await core.engine.inspect(
    'SELECT groupArray(name) AS names FROM system.functions GROUP BY lower(name) HAVING count() > 1',
  );
  const names = rows.flatMap((row) => row['names'] as string[]).filter(isAllowedFunction);
  expect(new Set(names.map((name) => name.toLowerCase()))).toEqual(new Set(['date_diff', 'totimezone']));
});

// What depends on more reads the server, its settings, dictionaries or the clock; arrayJoin only makes rows.
test('no listed function depends on more than its arguments, by what the engine says of it', async () => {
  const rows = await core.engine.inspect(
    'SELECT name FROM system.functions WHERE NOT is_aggregate AND ifNull(deterministic, 0) = 0',
  );
  expect(rows.length).toBeGreaterThan(150);
  expect(rows.map((row) => String(row['name'])).filter(isAllowedFunction)).toEqual(['arrayJoin']);
});

test('every bound is in the documentation', async () => {
  const page = await readFile('docs/sandboxing.md', 'utf8');
  const rows = Object.values(BOUNDS).map(({ max, unit }) => `- ${max.toLocaleString('en')} ${unit}`);
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
});

test.each([
  ['SELECT now64(6)', 'must not call now64(); use @now, the instant of the query'],
  ['SELECT * FROM numbers(3)', 'must not read the table function numbers(); what can be read is app, errors'],
  ['SELECT {a:String} FROM app', 'must not have {…}: write parameters as @name and maps as map(…)'],
  [
    "SELECT match(id, 'a.{1,1000}.{1000}') FROM app",
    'has a pattern that is too large a pattern: 2001 characters',
  ],
  ['SELECT id LIKE @project FROM app', 'position(text, @name) looks for the value of a parameter'],
  [`SELECT '${'x'.repeat(17_000)}'`, 'must be at most 16384 bytes long'],
  [
    "SELECT toHour(timestamp, 'Mars/Olympus') FROM app",
    `must not have the time zone "Mars/Olympus"; a time zone is a name of the tz database, written out: 'UTC'`,
  ],
  [
    `SELECT ${'['.repeat(400)}1${']'.repeat(400)}`,
    'is beyond a limit of the engine, TOO_DEEP_RECURSION: ask in several requests',
  ],
  [`SELECT ${'1 + '.repeat(3_000)}1`, 'is beyond a limit of the engine, TOO_'],
])('a rejection says what was not allowed and what would be: %s', async (sql, message) => {
  expect(await rejection(sql)).toContain(message);
});

describe('what a view keeps out', () => {
  // Without the LIMIT around views (base.ts) the engine runs the caller's condition on rows of other projects too.
  test.each([
    `SELECT count() FROM app WHERE intDiv(1, event_message NOT LIKE '${CANARY}%')`,
    `SELECT count() FROM errors WHERE intDiv(1, event_message NOT LIKE '${CANARY}%')`,
    `SELECT count() FROM app WHERE toUInt8(if(id LIKE 'q%', 'x', '1')) = 1`,
    `SELECT count() FROM app WHERE status > 0 AND intDiv(1, id NOT LIKE 'q%')`,
    `SELECT count() FROM app AS a JOIN app AS b ON a.id = b.id WHERE intDiv(1, b.id NOT LIKE 'q%')`,
    `SELECT id FROM app GROUP BY id HAVING intDiv(1, id NOT LIKE 'q%')`,
  ])('is not even looked at by conditions that would fail on it: %s', async (sql) => {
    await ask(sql);
  });

  // The engine looks names within a view up where the view is used.
  test('stays out whatever the caller gives the names that the view is made of', async () => {
    const used = new Set(SQL.match(/[a-z_]\w*/gi));
    const names = [...used, 'equals', 'and', 'greaterOrEquals', 'array', 'match'];
    const forms = (name: string) => [
      `WITH 0 AS ${name} SELECT count() AS c FROM errors`,
      `WITH ((a, b) -> 1) AS ${name} SELECT count() AS c FROM errors`,
      `WITH notEquals AS ${name} SELECT count() AS c FROM errors`,
      `SELECT count() AS c FROM errors AS ${name}`,
      `SELECT (SELECT count() FROM errors) AS c FROM (SELECT 'q' AS ${name}) AS z`,
      `SELECT arrayMap(${name} -> (SELECT count() FROM errors), [0])[1] AS c`,
      `WITH x(${name}) AS (SELECT 0) SELECT (SELECT count() FROM errors) AS c FROM x`,
      `WITH ${name} AS (SELECT 'q' AS id) SELECT (SELECT count() FROM errors) AS c FROM ${name}`,
      `SELECT (SELECT count() FROM errors) AS c FROM app ARRAY JOIN [0] AS ${name} LIMIT 1`,
    ];
    let answered = 0;
    for (const sql of names.flatMap(forms)) {
      const answer = await tryAsk(sql);
      for (const row of answer instanceof TailraceError ? [] : answer) {
        answered++;
        expect([sql, row['c']]).toEqual([sql, 10]);
      }
    }
    expect(answered).toBeGreaterThan(100);
  });

  test('is only what its own conditions keep out', async () => {
    const own = ask(`SELECT count() FROM app WHERE intDiv(1, id NOT LIKE 'p%')`);
    await expect(own).rejects.toThrow('Division by zero');
    expect(await ask('SELECT count() AS n FROM app')).toEqual([{ n: 30 }]);
    expect(await ask('SELECT count() AS n FROM app', { pattern: '/rest/2' })).toEqual([{ n: 11 }]);
    expect(await ask('SELECT count() AS n FROM app', { project: 'q' })).toEqual([{ n: 45 }]);
    const sent = await ask(`SELECT @project AS x, '@project' AS y`, { project: "it's; --" });
    expect(sent).toEqual([{ x: "it's; --", y: '@project' }]);
  });
});

describe('any mix of good and bad parts', () => {
  const parts = [...escapes.map(([, text]) => text), ...LEGITIMATE];
  const words = fc.constantFrom(...parts).map((text) => text.split(/(?<=\W)|(?=\W)/));
  const cut = fc.tuple(words, fc.nat(), fc.nat()).map(([list, a, b]) => {
    const [from, to] = [a % (list.length + 1), b % (list.length + 1)].toSorted((x, y) => x - y);
    return list.slice(from, to).join('');
  });
  const glue = fc.constantFrom(
    ...['', ' ', '(', ')', ',', ' UNION ALL ', ' FROM ', ' AS x ', '--', '/*', '*/', "'", '`', ';'],
  );
  const good = fc.constantFrom(...LEGITIMATE);
  const ownName = fc.constantFrom('app', 'errors', 'count', 'status');
  const otherTable = fc.constantFrom('secret_logs', 'app_logs', 'system.one', '`secret_logs`');
  const mixed = fc.oneof(
    fc.tuple(cut, glue, cut, glue, cut).map((list) => list.join('')),
    // Swapping the name of a view or a function in a good query keeps most of it good.
    fc.tuple(good, ownName, cut).map(([text, from, to]) => text.replace(from, to)),
    fc.tuple(good, otherTable).map(([text, to]) => text.replaceAll(/\bapp\b/g, to)),
  );

  test('answers without a canary, or is rejected', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(mixed, async (sql) => {
        const answer = await tryAsk(sql);
        if (answer instanceof TailraceError)
          return void expect(['invalid_parameter', 'query_failed', 'query_timeout']).toContain(answer.code);
        // The text itself may name the canary's table or file; its rows may not.
        expect(JSON.stringify(answer)).not.toContain(CANARY);
        answered++;
      }),
      runs(1500),
    );
    expect(answered).toBeGreaterThan(scale(25));
  });
});

test('a SELECT is checked once, and is not kept warm', async () => {
  const made = await check('SELECT id FROM app');
  expect(await check('SELECT id FROM app')).toBe(made);
  expect(made).toMatchObject({ id: stored.id, cachingSeconds: 900, warmingSeconds: undefined });
  expect((await check('select id from app')).hash).toBe(made.hash);
  expect((await check('SELECT id FROM errors')).hash).not.toBe(made.hash);
});

test('where sandboxing is off, sql is a parameter that nobody declared', async () => {
  const off = core.registry.getEndpoint('sandbox.off');
  const checkOff = createSandbox(core.engine);
  expect(await checkOff(off, { sql: 'DROP TABLE app_logs' })).toBe(off);
  expect(await checkOff(stored, {})).toBe(stored);
  expect(await checkOff(stored, { sql: '' })).toBe(stored);
});

test.each(LEGITIMATE)('a legitimate SELECT answers: %s', async (sql) => {
  expect(JSON.stringify(await ask(sql))).not.toContain(CANARY);
});
