import { expect, test } from 'vitest';
import { createPages } from '../../src/definitions/pages.ts';
import { createParameter } from '../../src/definitions/parameter.ts';
import { createStatement } from '../../src/query/statement.ts';
import { CACHED } from '../support/cached-endpoint.ts';
import { shareService } from '../support/shared-service.ts';

const { core } = await shareService();

const BY = ['timestamp desc', 'id desc'];
const columns = [
  { name: 'n', type: 'integer', description: '' },
  { name: 'text', type: 'json', description: '' },
] as const;

/** The rows of a query, with its optional conditions decided or left to the engine. */
async function read(sql: string, values: Readonly<Record<string, string>>, decides: boolean) {
  const pages = createPages({ by: BY, size: 10 }, { timestamp: { type: 'integer' } }, { sql, sources: [] });
  const parameters = [
    createParameter('text', { type: 'string', description: '' }),
    createParameter('number', { type: 'integer', description: '' }),
  ];
  const endpoint = { ...CACHED, parameters, columns, pages, sql };
  const statement = createStatement(endpoint, undefined, decides ? values : {});
  const { bytes } = await core.engine.query(statement.sql, values, { format: statement.format });
  return bytes.toString();
}

const VALUES = { text: '', number: '', pinned_text: '', cursor_timestamp: '', cursor_id: '' };

test.each([
  ["@text = ''", 'n = 1'],
  ['@text IS NULL', 'n = 1'],
  ['@number IS NULL', 'n = 1'],
  ['@cursor_id IS NULL', 'n = 1'],
])('the condition (%s OR %s) means the same before the engine as in it', async (empty, rest) => {
  const sql = `SELECT number AS n, '{}' AS text FROM numbers(3) WHERE n < 9 AND (${empty} OR ${rest}) ORDER BY n`;
  for (const sent of [
    {},
    { text: 'x', number: '5', pinned_text: 'x', cursor_timestamp: '5', cursor_id: '=' },
  ]) {
    const values = { ...VALUES, ...sent };
    expect(await read(sql, values, true)).toBe(await read(sql, values, false));
  }
});
