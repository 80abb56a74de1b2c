import { expect, test } from 'vitest';
import { findClockWarning } from '../../src/definitions/checks/settings.ts';
import { findAdvice } from '../../src/verify/advice.ts';
import { cutStatement } from '../../src/verify/engine-message.ts';

const sources = [
  { name: 'api.requests', table: 'api_requests' },
  { name: 'deno-relay-logs', table: 'function_edge_logs' },
  { name: 'plain', table: 'plain' },
];
const TABLES = 'tables are api_requests, function_edge_logs, plain';
const SYNTAX = 'Syntax error: failed at position 53 ({): {project}} . (SYNTAX_ERROR)';

test.each([
  [
    'SELECT 1 FROM api.requests',
    'Database api does not exist. (UNKNOWN_DATABASE)',
    'api.requests is a source; its table is api_requests: write FROM api_requests',
  ],
  [
    'WITH v AS (SELECT 1) SELECT 1 FROM v JOIN zzzzzz',
    '(UNKNOWN_TABLE)',
    `there is no table zzzzzz; ${TABLES}`,
  ],
  [
    "SELECT 'FROM deno-relay-logs' FROM plain WHERE p = {{ project }}",
    SYNTAX,
    'a parameter is written @project, not {{ project }}',
  ],
  [
    'SELECT 1 WHERE p = {project:String}',
    '(UNKNOWN_QUERY_PARAMETER)',
    'a parameter is written @project, not {project:String}',
  ],
  ["SELECT x::String, '{{a}}' -- :b", SYNTAX, undefined],
  [
    'SELECT metadata.req.path',
    'Unknown expression identifier `metadata.req.path` in scope SELECT … (UNKNOWN_IDENTIFIER)',
    "metadata is a text of JSON: read metadata.req.path as JSONExtractString(metadata, 'req', 'path'), or declare a column with this path in the source",
  ],
  ['SELECT metadata.a', 'Memory limit exceeded (MEMORY_LIMIT_EXCEEDED)', undefined],
])('%s, %s', (sql, message, advice) => expect(findAdvice(message, { sql, sources })).toBe(advice));

test('a message of the engine is cut before the statement', () => {
  const statement = `SELECT ${'x, '.repeat(3_000)}y`;
  expect(
    cutStatement(
      `Unknown expression identifier \`pat\` in scope ${statement}. Maybe you meant: ['path']. (UNKNOWN_IDENTIFIER)`,
    ),
  ).toBe("Unknown expression identifier `pat`. Maybe you meant: ['path']. (UNKNOWN_IDENTIFIER)");
  expect(
    cutStatement(
      `Syntax error: failed at position 60 (() (line 2, col 3): (${statement} . Unmatched parentheses: (`,
    ),
  ).toBe('Syntax error at “(”. Unmatched parentheses: (');
  expect(cutStatement('Function with name `lenght` does not exist')).toBe(
    'Function with name `lenght` does not exist',
  );
});

test.each([
  ["SELECT 'now()', -- now()\n  toStartOfHour( NOW ( ) )", 2, 18],
  ["SELECT 'now()', now, `now`(), @now, toDateTime64(@now, 6) /* now() */", 0, 0],
])('the engine’s clock in %j is a warning', (text, line, column) => {
  const warnings = findClockWarning({ file: 'query.sql', text });
  expect(warnings.map((one) => [one.line, one.column])).toEqual(line === 0 ? [] : [[line, column]]);
});
