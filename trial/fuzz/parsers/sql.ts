import { canonicalise } from '../../../src/sandbox/canonical.ts';
import { checkViews } from '../../../src/sandbox/check-tree.ts';
import { SQL_BYTES_MAX as SELECT_BYTES_MAX, toLines } from '../../../src/sandbox/sandbox.ts';
import { findWordFault, parseQueryTree, parseSyntaxTree } from '../../../src/sandbox/syntax-tree.ts';
import { SEARCH } from '../../../src/search/search.ts';
import { findOptionalConditions } from '../../../src/sql/optional-condition.ts';
import { applyEdits, createRewriter, parseSql } from '../../../src/sql/parse.ts';
import { mayRescan, PATTERN_BYTES_MAX } from '../../../src/sql/pattern.ts';
import { guardSearches } from '../../../src/sql/search-guard.ts';
import { findWithList, removeUnused } from '../../../src/sql/with-list.ts';
import { engineMessage, toFault } from '../../../src/verify/engine-fault.ts';
import { toAuthorText } from '../../../src/workbench/check.ts';
import { PATTERN_TOKENS } from '../../pattern-tokens.ts';
import { distinct, nest, type Parser, rejecting, split } from '../parser.ts';

/** The longest query.sql of a draft; a caller's SELECT has 16 KiB by default. */
export const SQL_CHARS_MAX = 65_536;
// The engine quotes the statement, and may quote it twice.
const MESSAGE_CHARS_MAX = 2 * SQL_CHARS_MAX;
const TREE_CHARS_MAX = 1024 * 1024;

const LEXEMES = split(
  "'¦''¦\\'¦\"¦`¦$¦$a¦$a$¦--¦#!¦/*¦*/¦@¦@a¦a¦ ¦(¦,a¦\u2018¦\u201c¦\n¦\ud800¦//¦$$¦ BETWEEN 1 AND ¦CASE ¦ END",
);
const CLAUSES = split('SELECT ¦WITH ¦ AS ¦ FROM ¦ WHERE ¦ AND ¦ LIMIT 1¦, ¦ a¦(¦)¦ x AS (SELECT 1),');
const NESTS = nest('(…)¦[…]¦f(…)¦/*…*/¦(SELECT …)¦CASE WHEN … END¦WITH a AS (…) SELECT 1¦x IN (SELECT …)');

let calls = 0;

/** The text as no parser has seen it: what it has read is cached by the text. */
function once(text: string): string {
  return text + ' '.repeat(++calls % 1_000);
}

/** The same lexemes for each reader of SQL, which reads what has passed the bounds of its size. */
function sql(parse: (text: string) => unknown, more: Partial<Parser> = {}): Parser {
  const common = { charsMax: SQL_CHARS_MAX, tokens: LEXEMES, nests: NESTS };
  return { ...common, ...more, parse: (text) => rejecting(() => parse(once(text))) };
}

const END = 'z AS (SELECT 1) SELECT 1';

export const SQL_PARSERS: Readonly<Record<string, Parser>> = {
  'words of SQL': { ...sql(parseSql), parse: (text) => parseSql(once(text)) },
  'parameters of SQL': sql((text) => createRewriter(text)(() => "'x'"), {
    tokens: split("'¦@a¦@a,¦/*¦\n@a¦$$¦@@a¦\n"),
  }),
  'bounds of words': sql(findWordFault),
  'a caller’s SELECT in the engine’s spelling': sql(
    (text) => canonicalise({ ...SEARCH, parameters: [] }, text, (marked) => Promise.resolve(marked)),
    {
      charsMax: SELECT_BYTES_MAX,
      tokens: split("tailrace¦tailrace:¦'tailrace:a'¦@now¦@now,¦ RECURSIVE ¦a.:¦{¦'¦a,¦`a`,"),
      shapes: { 'marks of every length': distinct((i) => `${'tailrace'.repeat(i + 1)}:`) },
    },
  ),
  'searches of SQL': sql((text) => guardSearches(text, () => ''), {
    tokens: split("match(a, '¦match(a, 'x'),¦a LIKE ¦a LIKE 'x' || ¦concat('x', ¦[¦'x',¦ LIKE¦||¦like("),
    nests: [...NESTS, ...nest("match(a, …)¦concat(…)¦a LIKE 'x' || (…)¦multiSearchAny(a, […])")],
  }),
  'WITH of SQL': sql((text) => [findWithList(text), applyEdits(text, removeUnused(text))], {
    tokens: CLAUSES,
    shapes: {
      views: distinct((i) => `a${i} AS (SELECT 1 AS x FROM a${i - 1}), `, ['WITH ', `${END} FROM z`]),
      'views that are not used': distinct((i) => `a${i} AS (SELECT 1), `, ['WITH ', `${END} FROM z`]),
      // Each view reads the one before, and none is read: only the last can be dropped at first.
      'a chain of views': distinct((i) => `a${i} AS (SELECT 1 FROM a${i - 1}), `, ['WITH ', END]),
    },
  }),
  'optional conditions of SQL': sql(findOptionalConditions, {
    tokens: split(" AND (@a = '' OR ¦ AND (@a = '' OR x)¦)¦ AND ¦SELECT 1 WHERE ¦(¦ x "),
    nests: nest(" AND (@a = '' OR x …)¦(…)"),
    frame: ['SELECT 1 FROM a WHERE 1', ''],
  }),
  'the place of an error in SQL': sql(
    (text) => {
      const message = "Unknown expression identifier `zzz` 'a.b' function zzz";
      return toFault({ file: 'query.sql', text }, new Error(message), () => "'x'");
    },
    { tokens: [...LEXEMES, '`a`', '@a\n'] },
  ),
  'a message of the engine': {
    charsMax: MESSAGE_CHARS_MAX,
    tokens: split(
      'Code: 1. DB::Exception: ¦: In scope ¦ in query SELECT ¦/a/b¦/a¦: failed at position 1 (¦)¦:¦a: ¦. ¦ ¦(A)',
    ),
    parse: (text) => {
      const message = engineMessage(new Error(`Code: 62. DB::Exception: ${text}`));
      return toAuthorText(message, { sql: '', definition: '' });
    },
  },
  'a tree of the engine': {
    charsMax: TREE_CHARS_MAX,
    tokens: split(
      'Function a (children 1)\n¦ ¦\n¦(children ¦(alias a)¦FUNCTION id: 1, function_name: a\n¦ id: ¦, ',
    ),
    // Every level one space further in, up to the deepest that the sandbox reads.
    shapes: {
      'a deep tree': distinct((i) => `${' '.repeat(i % 1_000)}FUNCTION id: ${i}, function_name: a\n`),
    },
    parse: (text) =>
      rejecting(() => {
        const lines = toLines(text);
        checkViews(parseQueryTree(lines), []);
        return parseSyntaxTree(lines);
      }),
  },
  'a pattern that may scan again': {
    charsMax: PATTERN_BYTES_MAX,
    tokens: ['a', ...PATTERN_TOKENS, ')', '\\Q', '\\E', '[]', '*', ']'],
    nests: nest('(…)¦(a*…)¦[…]'),
    parse: mayRescan,
  },
};
