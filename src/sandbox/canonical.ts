import type { Endpoint } from '../definitions/endpoint.ts';
import { NOW_PARAMETER } from '../definitions/parameter.ts';
import { applyEdits, createRewriter, parseSql, type Word } from '../sql/parse.ts';
import { PLAIN_NAME } from '../sql/with-list.ts';
import { findWordFault, invalidSql } from './syntax-tree.ts';

/** A caller's SELECT as the engine itself writes it. */
interface Canonical {
  /** The text that is checked, with a text such as `'tailrace:project'` instead of each parameter. */
  readonly checked: string;
  /** The same with `@project` in its place: the text that runs. */
  readonly runs: string;
  /** The parameter of such a text in `checked`. */
  readonly parameterOf: (text: string) => string | undefined;
}

/**
 * Has the engine rewrite a caller's text in its own spelling, without comments. The rewritten text is checked and runs,
 * so the check and the engine cannot read it in two ways. @param format rewrites one statement; fails for anything else
 */
export async function canonicalise(
  endpoint: Endpoint,
  sql: string,
  format: (sql: string) => Promise<string>,
): Promise<Canonical> {
  const fault = findWordFault(sql);
  if (fault !== undefined) throw invalidSql(fault);
  rejectBraces(sql);
  const declared = [...endpoint.parameters.map((parameter) => parameter.name), NOW_PARAMETER];
  const mark = findMark(sql);
  const marked = createRewriter(bindClocks(sql))((name) => {
    if (declared.includes(name)) return `'${mark}${name}'`;
    throw invalidSql(
      `names @${name}, which is not declared; declared are ${declared.map((one) => `@${one}`).join(', ')}`,
    );
  });
  const checked = (await format(marked)).trim();
  // A mark that the caller wrote with escapes stands for a parameter that the caller may name anyway.
  const marks = new Map(declared.map((name) => [`'${mark}${name}'`, name]));
  const { words, comments } = parseSql(checked);
  if (comments.length > 0) throw invalidSql('must not have a comment there');
  for (const word of words) rejectWord(word);
  rejectSequences(checked, words);
  const edits = words.flatMap(({ text, start, end }) => {
    const name = marks.get(text);
    return name === undefined ? [] : { start, end, text: `@${name}` };
  });
  return { checked, runs: applyEdits(checked, edits), parameterOf: (text) => marks.get(text) };
}

const NOW = `toDateTime64(@${NOW_PARAMETER}, 6, 'UTC')`;

/** The engine's clocks, by the instant of the query. */
const CLOCKS: Readonly<Record<string, string>> = {
  NOW: `toDateTime(${NOW}, 'UTC')`,
  NOW64: `toDateTime64(${NOW}, 3, 'UTC')`,
  TODAY: `toDate(${NOW})`,
  YESTERDAY: `subtractDays(toDate(${NOW}), 1)`,
};

/** Binds calls of clocks as `@now` is, so that all parts of an answer have one instant, from which its age counts. */
function bindClocks(sql: string): string {
  const { words } = parseSql(sql);
  const edits = words.flatMap(({ key, start }, i) => {
    const text = Object.hasOwn(CLOCKS, key) ? CLOCKS[key] : undefined;
    const close = words[i + 2];
    if (text === undefined || words[i + 1]?.key !== '(' || close?.key !== ')') return [];
    return { start, end: close.end, text };
  });
  return applyEdits(sql, edits);
}

/** A prefix that does not occur in the text. */
function findMark(sql: string): string {
  let mark = 'tailrace:';
  while (sql.includes(mark)) mark = `tailrace${mark}`;
  return mark;
}

/** Rejects a token that no allowed SELECT has in the engine's spelling. */
function rejectWord({ kind, text }: Word): void {
  if (kind === 'text' || (kind === 'word' && !text.includes('$'))) return;
  if (kind === 'sign' && '()[],.+-*/%=<>!|:'.includes(text)) return;
  if (kind !== 'name') throw invalidSql(`must not have ${JSON.stringify(text.slice(0, 20))} there`);
  if (PLAIN_NAME.test(text.slice(1, -1))) return;
  throw invalidSql(
    `must not have the name ${text.slice(0, 100)}: names have letters, digits and underscores only`,
  );
}

/** Rejects clauses that the engine's trees do not distinguish from others. */
function rejectSequences(checked: string, words: readonly Word[]): void {
  if (!/RECURSIVE|MATERIALIZED|\.\s*:/i.test(checked)) return; // a shortcut for most texts
  // No word has a space in it: texts are left out, and names are plain.
  const text = ` ${words.map((word) => (word.kind === 'text' ? `'` : word.text.toUpperCase())).join(' ')} `;
  if (text.includes(' WITH RECURSIVE ')) throw invalidSql('must not have WITH RECURSIVE');
  if (/ AS MATERIALIZED | MATERIALIZED \( /.test(text)) throw invalidSql('must not have a MATERIALIZED view');
  if (text.includes(' . : ')) throw invalidSql('must not read a value by its type: use CAST');
}

function rejectBraces(sql: string): void {
  if (parseSql(sql).words.some(({ key }) => key === '{' || key === '}'))
    throw invalidSql('must not have {…}: write parameters as @name and maps as map(…)');
}
