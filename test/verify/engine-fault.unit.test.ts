import { expect, test } from 'vitest';
import { findAdvice } from '../../src/verify/engine-fault.ts';

const sources = [
  { name: 'api.requests', table: 'api_requests' },
  { name: 'deno-relay-logs', table: 'function_edge_logs' },
  { name: 'plain', table: 'plain' },
];
const SYNTAX = 'Syntax error: failed at position 53 ({): {project}} . (SYNTAX_ERROR)';

test.each([
  [
    'SELECT 1 FROM api.requests',
    'Database api does not exist. (UNKNOWN_DATABASE)',
    'api.requests is a source; its table is api_requests: write FROM api_requests',
  ],
  [
    "SELECT 'FROM deno-relay-logs' FROM plain WHERE p = {{ project }}",
    SYNTAX,
    'a parameter is written @project, not {{ project }}',
  ],
  ["SELECT x::String, '{{a}}' -- :b", SYNTAX, undefined],
  [
    'SELECT metadata.req.path',
    'Unknown expression identifier `metadata.req.path` in scope SELECT … (UNKNOWN_IDENTIFIER)',
    "metadata is a string of JSON: read metadata.req.path as JSONExtractString(metadata, 'req', 'path'), or declare a column with this path in the source",
  ],
  ['SELECT metadata.a', 'Memory limit exceeded (MEMORY_LIMIT_EXCEEDED)', undefined],
])('%s, %s', (sql, message, advice) => expect(findAdvice(message, { sql, sources })).toBe(advice));
