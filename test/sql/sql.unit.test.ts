import { describe, expect, test } from 'vitest';
import { identifier, join, type SqlText, sql, textOf, trusted } from '../../src/sql/sql.ts';

const send = <T extends string>(statement: SqlText<T>) => textOf(statement);

describe('a statement that the engine accepts', () => {
  test('is constant or written by the template', () => {
    const constant = `SELECT 1
FROM x`;
    expect(send('SELECT 1')).toBe('SELECT 1');
    expect(send(constant)).toBe(constant);
    expect(send(sql`SELECT ${'1'}`)).toBe("SELECT '1'");
    expect(send(trusted(['SELECT', '1'].join(' ')))).toBe('SELECT 1');
  });

  test('does not compile with a part that was interpolated without quoting', () => {
    const value: string = ['1'].join();
    // @ts-expect-error a template without the tag
    send(`SELECT ${value}`);
    // @ts-expect-error a number has to be interpolated by the template, too
    send(`SELECT ${value.length}`);
    // @ts-expect-error a concatenation
    send('SELECT '.concat(value));
    // @ts-expect-error any string
    send(value);
    // @ts-expect-error SQL in a template without the tag, beside a value
    send(`${sql`SELECT`} ${value}`);
    // @ts-expect-error an object that looks like SQL
    send({ text: value, toString: () => value });
  });
});

describe('the template', () => {
  test('writes values as literals, SQL as it is and a list with commas', () => {
    const condition = sql`project = ${"it's"} AND n < ${5} AND at > ${10n ** 18n}`;
    const statement = sql`SELECT ${[identifier('a'), identifier('b c')]} FROM ${identifier('t')} WHERE ${condition} AND x IN (${['a', 'b']})`;
    expect(statement.text).toBe(
      "SELECT `a`, `b c` FROM `t` WHERE project = 'it\\'s' AND n < 5 AND at > 1000000000000000000 AND x IN ('a', 'b')",
    );
    expect(join([sql`SELECT ${1}`, sql`SELECT ${'2'}`], ' UNION ALL ').text).toBe(
      "SELECT 1 UNION ALL SELECT '2'",
    );
  });

  test.each([0.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1])('rejects the number %s', (number) => {
    expect(() => sql`SELECT ${number}`).toThrow(RangeError);
  });

  test.each(['a`b', 'a\\', 'a\0'])('rejects the name %j', (name) => {
    expect(() => identifier(name)).toThrow(RangeError);
  });
});
