import { scanTokens, type Token } from './token.ts';

/** The WITH list of a query: the text before its final SELECT. */
export interface WithList {
  /** Names of the views, `name AS (SELECT …)`, in order; without named expressions. */
  readonly views: readonly string[];
  /** `WITH …`, up to the final SELECT, with each view's SELECT replaced by the result of `rewrite`. */
  readonly sql: string;
}

interface View {
  readonly name: string;
  readonly bodyStart: number;
  readonly bodyEnd: number;
  /** The view with one comma of the list, so that the list stays valid without it; `undefined` for the only member. */
  readonly cut: { readonly start: number; readonly end: number } | undefined;
}

/** A name that needs no quotes, in SQL or in the engine's trees. */
export const PLAIN_NAME = /^[A-Za-z_]\w*$/;

/** The WITH list of a query, by words and brackets only: the check of a definition compares it with the engine's own reading. */
export function findWithList(sql: string, rewrite: (select: string) => string): WithList | undefined {
  const found = findViews(sql);
  if (found === undefined) return undefined;
  let text = '';
  let at = 0;
  for (const { bodyStart, bodyEnd } of found.views) {
    text += sql.slice(at, bodyStart) + rewrite(sql.slice(bodyStart, bodyEnd));
    at = bodyEnd;
  }
  return { views: found.views.map((view) => view.name), sql: text + sql.slice(at, found.end) };
}

/** The query without views that it does not name, directly or through another. A name counts anywhere, so in doubt a view stays. */
export function dropUnusedViews(sql: string): string {
  const cut = findViews(sql)?.views.find((view) => view.cut !== undefined && !isNamedOutside(sql, view))?.cut;
  return cut === undefined ? sql : dropUnusedViews(sql.slice(0, cut.start) + sql.slice(cut.end));
}

function isNamedOutside(sql: string, { name, bodyEnd, cut }: View): boolean {
  const start = cut?.start ?? 0;
  return [...scanTokens(sql)].some(({ kind, ...token }) => {
    if (token.end > start && token.start <= bodyEnd) return false;
    const text = sql.slice(token.start, token.end);
    return unquote(text) === name || (kind === 'name' && text.includes('\\')); // an escape may spell any name
  });
}

/** The views of a query's WITH list, and where the final SELECT begins. */
function findViews(sql: string): { views: readonly View[]; end: number } | undefined {
  const tokens = [...scanTokens(sql)].filter((token) => token.kind !== 'comment');
  const isWord = (i: number, word: string) => {
    const token = tokens[i];
    return token?.kind === 'word' && sql.slice(token.start, token.end).toUpperCase() === word;
  };
  const { closing, end } = pairBrackets(sql, tokens, (i) => isWord(i, 'SELECT'));
  const final = end === undefined ? undefined : tokens[end];
  if (!isWord(0, 'WITH') || end === undefined || final === undefined) return undefined;
  const comma = (i: number) => (sql.charAt(tokens[i]?.start ?? 0) === ',' ? tokens[i] : undefined);
  const views: View[] = [];
  for (let i = 1; i < end; i = (closing.get(i) ?? i) + 1) {
    const close = closing.get(i + 1);
    const opens =
      close !== undefined && isWord(i, 'AS') && ['SELECT', 'WITH'].some((word) => isWord(i + 2, word));
    if (!opens) continue;
    const nameAt = nameBefore(i, closing);
    const [open, last, name] = [tokens[i + 1], tokens[close], tokens[nameAt]];
    if (open === undefined || last === undefined || name === undefined) continue;
    // The engine allows a comma after the last member of the list.
    const after = close + 2 < end ? comma(close + 1) : undefined;
    const cut = findCut({ name, last }, { before: comma(nameAt - 1), after });
    const written = unquote(sql.slice(name.start, name.end));
    views.push({ name: written, bodyStart: open.end, bodyEnd: last.start, cut });
  }
  return views.length === 0 ? undefined : { views, end: final.start };
}

/** The range that removes a view: its tokens and one of the commas beside it. */
function findCut(
  { name, last }: { name: Token; last: Token },
  { before, after }: { before: Token | undefined; after: Token | undefined },
): View['cut'] {
  if (after !== undefined) return { start: name.start, end: after.end };
  return before && { start: before.start, end: last.end };
}

/** Index of a view's name: before AS, or before the list of columns in `name (a, b) AS (SELECT …)`. */
function nameBefore(as: number, closing: ReadonlyMap<number, number>): number {
  const columns = [...closing].find(([, close]) => close === as - 1);
  return (columns?.[0] ?? as) - 1;
}

/** Opening → closing bracket, by index, and the first token outside of all brackets that ends the list. */
function pairBrackets(sql: string, tokens: readonly Token[], isEnd: (i: number) => boolean) {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (const [i, { kind, start }] of tokens.entries()) {
    if (open.length === 0 && isEnd(i)) return { closing, end: i };
    if (kind !== 'sign') continue;
    if ('([{'.includes(sql.charAt(start))) open.push(i);
    const from = ')]}'.includes(sql.charAt(start)) ? open.pop() : undefined;
    if (from !== undefined) closing.set(from, i);
  }
  return { closing, end: undefined };
}

function unquote(name: string): string {
  return /^[`"\u201c]/.test(name) ? name.slice(1, -1) : name;
}
