import { distinct } from './parser.ts';

/** A request with one of the worst texts of a parser. */
export interface SlowText {
  /** The parser, and what of its grammar is repeated. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const QUERY = '/api/endpoints/query/usage.api-counts';
const ASKED = `${QUERY}?project=x&interval=daily`;
const JSON_TYPE = { 'content-type': 'application/json' };
const DEFINITION = 'name: a.b\ndescription: d\nmax_rows: 10\ncaching: disabled\n';
// Lengths up to which each is accepted; beyond, a request is refused by its length.
const URL_CHARS = 250_000;
const DRAFT_CHARS = 65_000;
const EVENTS_CHARS = 64_000;

const get = (name: string, path: string, headers?: Readonly<Record<string, string>>): SlowText => ({
  ...{ name, method: 'GET', path },
  ...(headers !== undefined && { headers }),
});
const post = (name: string, path: string, body: string, type = 'application/json'): SlowText => ({
  ...{ name, method: 'POST', path, headers: { 'content-type': type }, body },
});
const draft = (name: string, definition: string, sql = 'SELECT 1 AS n'): SlowText => ({
  ...{ name: `draft: ${name}`, method: 'POST', path: '/api/workbench/check', headers: JSON_TYPE },
  body: JSON.stringify({ definition, sql }),
});
const nested = (levels: number, [open, close]: readonly [string, string], inner: string) =>
  open.repeat(levels) + inner + close.repeat(levels);

/** For each parser of callers' texts the texts that took it longest (trial/fuzz/parsers.ts), and those that a bound keeps from it. */
export const SLOW_TEXTS: readonly SlowText[] = [
  get(
    'query string: plus signs',
    `${QUERY}?interval=daily&project=${'+'.repeat(60_000)}&x=${'+'.repeat(180_000)}`,
  ),
  get('query string: escapes', `${ASKED}&x=${'%41'.repeat(URL_CHARS / 3)}`),
  get('query string: names', `${QUERY}?${distinct((i) => `a${i}=${'x'.repeat(245)}&`)(245_000)}`),
  get('pattern', `${QUERY}?interval=daily&project=${encodeURIComponent('(a|'.repeat(1_300))}`),
  get('cursor', `/api/search?cursor=${'.'.repeat(16_000)}`),
  get('search: brackets', `/api/search?q=${'('.repeat(8_000)}`),
  get('search: a field of names', `/api/search?q=${encodeURIComponent('"a".'.repeat(2_000))}`),
  get('caller’s SELECT: brackets', `/api/endpoints/query/logs.all?project=x&sql=${'('.repeat(16_000)}`),
  get('Accept', ASKED, { accept: '*/*,'.repeat(500) }),
  get('Cache-Control', ASKED, { 'cache-control': '"\\'.repeat(1_000) }),
  get('If-None-Match', ASKED, { 'if-none-match': '"a",'.repeat(7_000) }),
  get('signed token', ASKED, { authorization: `Bearer eyJ${'a'.repeat(15_000)}.${'a'.repeat(15_000)}.a` }),
  post('parameters: nested', QUERY, '['.repeat(URL_CHARS)),
  post('parameters: members', QUERY, distinct((i) => `"a${i}":"b",`, ['{', '"z":"1"}'])(URL_CHARS)),
  post('key: lists', '/api/keys', `{"name":"a","scopes":[${'[],'.repeat(80_000)}[]]}`),
  {
    ...{ name: 'agent: members', method: 'POST', path: '/mcp' },
    headers: { ...JSON_TYPE, accept: 'application/json, text/event-stream' },
    body: distinct((i) => `,"a${i}":1`, ['{"jsonrpc":"2.0","id":1,"method":"tools/list"', '}'])(45_000),
  },
  draft('brackets', '['.repeat(DRAFT_CHARS)),
  draft('braces', `${'{a: '.repeat(DRAFT_CHARS / 4)}`),
  draft('lists in a line', '- '.repeat(DRAFT_CHARS / 2)),
  draft('keys', distinct((i) => `k${i}: 1\n`)(8_500)),
  draft('keys in braces', distinct((i) => `k${i},`, ['{', 'z}'])(11_000)),
  draft('faults', '}'.repeat(3_900)),
  draft('aliases', distinct((i) => `k${i}: &a${i + 1} [*a${i},*a${i}]\n`, ['k: &a0 [x]\n', ''])(5_000)),
  draft('a long text', `a: ${'word '.repeat(DRAFT_CHARS / 5)}`),
  draft('SQL of brackets', DEFINITION, `SELECT ${nested(30_000, ['(', ')'], '1')}`),
  draft('SQL of IN', DEFINITION, nested(24, ['SELECT 1 AS n WHERE 1 IN (', ')'], 'SELECT 1')),
  draft('SQL of parameters', DEFINITION, `SELECT ${'@a,'.repeat(4_900)}1`),
  draft('SQL of values', DEFINITION, `SELECT [${'1,'.repeat(1_400)}1] AS n`),
  draft('SQL of columns', DEFINITION, `SELECT ${distinct((i) => `1 AS c${i},`)(14_000)} 1 AS n`),
  post('events: nested', '/api/logs?source_name=postgres.logs', nested(30_000, ['[', ']'], '')),
  post(
    'events: members',
    '/api/logs?source_name=postgres.logs',
    distinct((i) => `"a${i}":1,`, ['{', '"z":1}'])(EVENTS_CHARS),
  ),
  post('events: lines', '/api/logs?source_name=postgres.logs', '{}\n'.repeat(21_000), 'application/x-ndjson'),
  post('OTLP: nested', '/v1/logs', nested(2_000, ['{"arrayValue":{"values":[', ']}}'], '')),
];
