import { existsSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { TailraceError } from '../../../src/errors.ts';
import { isAllowedFunction } from '../../../src/query/sandbox/function.ts';
import { ESCAPES } from './escapes.ts';
import { LEGITIMATE } from './legitimate.ts';
import { CANARY, openSandbox } from './support.ts';

const sandbox = await openSandbox();
const { store, stored, check, ask, canaryFile } = sandbox;
afterAll(sandbox.close);

const escapes = Object.entries(ESCAPES).flatMap(([kind, texts]) =>
  texts.map((text) => [kind, text.replaceAll('@file@', canaryFile)] as const),
);

/** The message with which a text is refused before it runs. */
async function refusal(sql: string): Promise<string> {
  const error: unknown = await check(sql).then(
    () => 'was not refused',
    (thrown) => thrown,
  );
  if (!(error instanceof TailraceError)) throw new Error(`${sql}: ${String(error)}`);
  expect(error.code).toBe('invalid_parameter');
  expect(error.errors).toEqual([{ parameter: 'sql', message: expect.stringMatching(/\S/) }]);
  expect(error.message).not.toContain(CANARY);
  return error.message;
}

describe('escapes', () => {
  test('are at least 200', () => {
    expect(new Set(escapes.map(([, text]) => text)).size).toBe(escapes.length);
    expect(escapes.length).toBeGreaterThanOrEqual(200);
  });

  test.each(escapes)('by %s are refused before they run: %s', async (_, sql) => {
    await refusal(sql);
  });

  test('leave no file, no table, no function behind', async () => {
    expect(existsSync(`${canaryFile}.out`)).toBe(false);
    const tables = await store.engine.inspect(
      `SELECT name FROM system.tables WHERE database = 'tailrace' ORDER BY name`,
    );
    expect(tables.map((row) => row['name'])).toEqual(['app_logs', 'secret_logs']);
  });

  test('by any function that is not listed are refused, by its name as a call and as a value', async () => {
    const rows = await store.engine.inspect('SELECT name FROM system.functions');
    const others = rows.map((row) => String(row['name'])).filter((name) => !isAllowedFunction(name));
    expect(others.length).toBeGreaterThan(800);
    for (let i = 0; i < others.length; i += 7) {
      const name = others[i] ?? '';
      await refusal(`SELECT \`${name}\`(id) FROM app`);
      await refusal(`SELECT arrayMap(\`${name}\`, [id]) FROM app`);
    }
  }, 60_000);
});

describe('what may be called', () => {
  test('has no name of a table function', async () => {
    const rows = await store.engine.inspect('SELECT name FROM system.table_functions');
    expect(rows.map((row) => String(row['name'])).filter(isAllowedFunction)).toEqual([]);
  });

  test('means the same in either letter case', async () => {
    const rows = await store.engine.inspect(
      'SELECT groupArray(name) AS names FROM system.functions GROUP BY lower(name) HAVING count() > 1',
    );
    const names = rows.flatMap((row) => row['names'] as string[]).filter(isAllowedFunction);
    expect(names.map((name) => name.toLowerCase()).toSorted()).toEqual(['totimezone', 'totimezone']);
  });
});

describe('legitimate SELECTs', () => {
  test('are at least 50', () => {
    expect(new Set(LEGITIMATE).size).toBe(LEGITIMATE.length);
    expect(LEGITIMATE.length).toBeGreaterThanOrEqual(50);
  });

  test.each(LEGITIMATE)('answer: %s', async (sql) => {
    expect(JSON.stringify(await ask(sql))).not.toContain(CANARY);
  });
});
