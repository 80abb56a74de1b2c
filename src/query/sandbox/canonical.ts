import { RESERVED_PARAMETER } from '../../definitions/checks/parameters.ts';
import type { Endpoint } from '../../definitions/endpoint.ts';
import { createRewriter } from '../../sql/parameter.ts';
import { scanTokens, type Token } from '../../sql/token.ts';
import { PLAIN_NAME } from '../../sql/with-list.ts';
import { refuseDense } from './dense-text.ts';
import { refuse } from './refusal.ts';

/** A caller's SELECT as the engine itself writes it. */
export interface Canonical {
  /** With a text such as `'tailrace:project'` in the place of each parameter: this is what is checked. */
  readonly checked: string;
  /** The same with `@project` there again: this is what runs. */
  readonly runs: string;
  /** The parameter that a text of `checked` stands for. */
  readonly parameterOf: (text: string) => string | undefined;
}

/**
 * Has the engine write a caller's text in its own way, without comments, in one spelling. What is checked and what runs is
 * that writing, so there is no other reading of it.
 *
 * @param format writes one statement as the engine would; fails where it is not exactly one
 */
export async function canonicalise(
  endpoint: Endpoint,
  sql: string,
  format: (sql: string) => Promise<string>,
): Promise<Canonical> {
  refuseDense(sql);
  const declared = [...endpoint.parameters.map((parameter) => parameter.name), RESERVED_PARAMETER];
  const mark = findMark(sql);
  const marked = createRewriter(sql)((name) => {
    if (declared.includes(name)) return `'${mark}${name}'`;
    throw refuse(
      `names @${name}, which is not declared; declared are ${declared.map((one) => `@${one}`).join(', ')}`,
    );
  });
  const checked = (await format(marked)).trim();
  // A caller who writes a mark in escapes gets the parameter that it names: one that it may name anyway.
  const marks = new Map(declared.map((name) => [`'${mark}${name}'`, name]));
  let runs = '';
  let at = 0;
  refuseDense(checked); // once more: it is what the trees are made of
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

/** A prefix that the text does not hold. */
function findMark(sql: string): string {
  let mark = 'tailrace:';
  while (sql.includes(mark)) mark = `tailrace${mark}`;
  return mark;
}

const SIGNS = '()[],.+-*/%=<>!|:';

/** What the engine writes of an allowed SELECT has no other tokens than these. */
function refuseToken({ kind }: Token, text: string): void {
  if (kind === 'text') return;
  if (kind === 'word' && !text.includes('$')) return;
  if (kind === 'name') {
    if (PLAIN_NAME.test(text.slice(1, -1))) return;
    throw refuse(
      `must not have the name ${text.slice(0, 100)}: names have letters, digits and underscores only`,
    );
  }
  if (kind === 'sign' && SIGNS.includes(text)) return;
  throw refuse(`must not have ${JSON.stringify(text.slice(0, 20))} there`);
}

/** Clauses of a view or a path that the engine's trees do not tell apart from others. */
function refuseSequences(checked: string): void {
  if (!/RECURSIVE|MATERIALIZED|\.\s*:/i.test(checked)) return; // most have none, also in their texts
  const words: string[] = [];
  for (const { start, end, kind } of scanTokens(checked))
    words.push(kind === 'text' ? `'` : checked.slice(start, end).toUpperCase());
  const has = (...sequence: string[]) =>
    words.some((_, i) => sequence.every((word, j) => words[i + j] === word));
  if (has('WITH', 'RECURSIVE')) throw refuse('must not have WITH RECURSIVE');
  if (has('AS', 'MATERIALIZED') || has('MATERIALIZED', '('))
    throw refuse('must not have a MATERIALIZED view');
  if (has('.', ':')) throw refuse('must not read a value by its type: use CAST');
}
