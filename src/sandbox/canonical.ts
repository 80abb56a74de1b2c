import type { Endpoint } from '../definitions/endpoint.ts';
import { NOW_PARAMETER } from '../definitions/parameter.ts';
import { createRewriter } from '../sql/parameter.ts';
import { type SqlToken, scanTokens } from '../sql/token.ts';
import { PLAIN_NAME } from '../sql/with-list.ts';
import { assertDepth } from './dense-text.ts';
import { invalidSql } from './refusal.ts';

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
 * Has the engine rewrite a caller's text in its own spelling, without comments. The rewritten text is checked and runs, so the check
 * and the engine cannot read it in two ways. @param format rewrites one statement; fails for anything else
 */
export async function canonicalise(
  endpoint: Endpoint,
  sql: string,
  format: (sql: string) => Promise<string>,
): Promise<Canonical> {
  refuseBraces(sql);
  assertDepth(sql);
  const declared = [...endpoint.parameters.map((parameter) => parameter.name), NOW_PARAMETER];
  const mark = findMark(sql);
  const marked = createRewriter(sql)((name) => {
    if (declared.includes(name)) return `'${mark}${name}'`;
    throw invalidSql(
      `names @${name}, which is not declared; declared are ${declared.map((one) => `@${one}`).join(', ')}`,
    );
  });
  const checked = (await format(marked)).trim();
  // A mark that the caller wrote with escapes stands for a parameter that the caller may name anyway.
  const marks = new Map(declared.map((name) => [`'${mark}${name}'`, name]));
  let runs = '';
  let at = 0;
  assertDepth(checked); // once more: the trees are built from it
  for (const token of scanTokens(checked)) {
    const text = checked.slice(token.start, token.end);
    refuseToken(token, text);
    const name = token.kind === 'text' ? marks.get(text) : undefined;
    if (name === undefined) continue;
    runs += `${checked.slice(at, token.start)}@${name}`;
    at = token.end;
  }
  refuseSequences(checked);
  return { checked, runs: runs + checked.slice(at), parameterOf: (text) => marks.get(text) };
}

/** A prefix that does not occur in the text. */
function findMark(sql: string): string {
  let mark = 'tailrace:';
  while (sql.includes(mark)) mark = `tailrace${mark}`;
  return mark;
}

/** Rejects tokens that no allowed SELECT has in the engine's spelling. */
function refuseToken({ kind }: SqlToken, text: string): void {
  if (kind === 'text' || (kind === 'word' && !text.includes('$'))) return;
  if (kind === 'sign' && '()[],.+-*/%=<>!|:'.includes(text)) return;
  if (kind !== 'name') throw invalidSql(`must not have ${JSON.stringify(text.slice(0, 20))} there`);
  if (PLAIN_NAME.test(text.slice(1, -1))) return;
  throw invalidSql(
    `must not have the name ${text.slice(0, 100)}: names have letters, digits and underscores only`,
  );
}

function refuseBraces(sql: string): void {
  if (!/[{}]/.test(sql)) return; // a shortcut for most texts
  for (const { kind, start } of scanTokens(sql))
    if (kind === 'sign' && '{}'.includes(sql.charAt(start)))
      throw invalidSql('must not have {…}: write parameters as @name and maps as map(…)');
}

/** Rejects clauses that the engine's trees do not distinguish from others. */
function refuseSequences(checked: string): void {
  if (!/RECURSIVE|MATERIALIZED|\.\s*:/i.test(checked)) return; // a shortcut for most texts
  // No token has a space in it: texts are left out, and names are plain.
  const words = [...scanTokens(checked)].map(({ kind, start, end }) =>
    kind === 'text' ? `'` : checked.slice(start, end).toUpperCase(),
  );
  const text = ` ${words.join(' ')} `;
  if (text.includes(' WITH RECURSIVE ')) throw invalidSql('must not have WITH RECURSIVE');
  if (/ AS MATERIALIZED | MATERIALIZED \( /.test(text)) throw invalidSql('must not have a MATERIALIZED view');
  if (text.includes(' . : ')) throw invalidSql('must not read a value by its type: use CAST');
}
