import { type SqlToken, scanTokens } from './token.ts';

/** The WITH list of a query: the text before its final SELECT. */
export interface WithList {
  /** Names of the views, `name AS (SELECT …)`, in order; without named expressions. */
  readonly views: readonly string[];
  /** `WITH …`, up to the final SELECT, with each view's SELECT replaced by the result of `rewrite`. */
  readonly sql: string;
}

/** `name AS (SELECT …)`, or `expression AS name`. */
interface Member {
  readonly name: string;
  /** The SELECT of a view. */
  readonly body: { readonly start: number; readonly end: number } | undefined;
  readonly end: number;
  /** The comma before it. */
  readonly comma: SqlToken | undefined;
  /** The member with one comma of the list, so that the list stays valid without it; `undefined` for the only member. */
  readonly cut: { readonly start: number; readonly end: number } | undefined;
}

/** A name that needs no quotes, in SQL or in the engine's trees. */
export const PLAIN_NAME = /^[A-Za-z_]\w*$/;

/** The WITH list of a query, by words and brackets only: the check of a definition compares it with the engine's own reading. */
export function findWithList(sql: string, rewrite: (select: string) => string): WithList | undefined {
  const found = findMembers(sql);
  const views = found?.members.filter(({ body }) => body !== undefined) ?? [];
  if (found === undefined || views.length === 0) return undefined;
  let text = '';
  let at = 0;
  for (const { body = { start: 0, end: 0 } } of views) {
    text += sql.slice(at, body.start) + rewrite(sql.slice(body.start, body.end));
    at = body.end;
  }
  return { views: views.map(({ name }) => name), sql: text + sql.slice(at, found.end) };
}

/**
 * The query without views and named expressions of its WITH list that it does not name, directly or through another. A name counts
 * anywhere, so in doubt one stays. Takes time linear in the length of the text, as all readers here.
 */
export function dropUnused(sql: string): string {
  const members = findMembers(sql)?.members ?? [];
  if (members.every(({ cut }) => cut === undefined)) return sql;
  const unused = findUnused(members, findUses(sql));
  return unused.size === 0 ? sql : removeRanges(sql, findCuts(members, unused));
}

/** The ranges to remove. Of members at the end of the list the comma before the first of them goes, too. */
function findCuts(members: readonly Member[], unused: ReadonlySet<Member>) {
  const dropped = members.filter((member) => unused.has(member));
  let first = dropped.length - 1;
  const isNext = (at: number) => dropped[at]?.comma?.end === dropped[at - 1]?.cut?.end;
  const isLast = dropped[first]?.cut?.end === dropped[first]?.end; // without a comma after it
  while (isLast && first > 0 && isNext(first)) first--;
  return dropped.flatMap(({ cut, comma }, i) => {
    if (cut === undefined) return [];
    return isLast && i === first && comma !== undefined ? { ...cut, start: comma.start } : cut;
  });
}

/** Drops what nothing names, then what only the dropped ones named; of all members one stays, for a list has at least one. */
function findUnused(members: readonly Member[], uses: readonly Use[]): ReadonlySet<Member> {
  const { named, inside } = countUses(members, uses);
  const byName = Map.groupBy(members, ({ name }) => name);
  const isUnused = (member: Member) => {
    const own = inside.get(member) ?? NO_USES;
    const others = (name: string | undefined) => (named.get(name) ?? 0) - (own.get(name) ?? 0);
    return member.cut !== undefined && others(member.name) === 0 && others(undefined) === 0;
  };
  const dropped = new Set<Member>();
  let next = members.filter(isUnused);
  while (next.length > 0) {
    if (dropped.size + next.length === members.length) next = next.slice(1);
    for (const member of next) dropped.add(member);
    const gone = new Set<string | undefined>();
    for (const [name, count] of next.flatMap((member) => [...(inside.get(member) ?? NO_USES)])) {
      named.set(name, (named.get(name) ?? 0) - count);
      gone.add(name);
    }
    const touched = gone.has(undefined) ? members : [...gone].flatMap((name) => byName.get(name ?? '') ?? []);
    next = touched.filter((member) => !dropped.has(member) && isUnused(member));
  }
  return dropped;
}

type UseCounts = ReadonlyMap<string | undefined, number>;
const NO_USES: UseCounts = new Map();

/** How often each name is used in all, and within what is cut with each member. Both are in the order of the text. */
function countUses(members: readonly Member[], uses: readonly Use[]) {
  const named = new Map<string | undefined, number>();
  const inside = new Map<Member, Map<string | undefined, number>>();
  const count = (counts: Map<string | undefined, number>, name: string | undefined) =>
    counts.set(name, (counts.get(name) ?? 0) + 1);
  let i = 0;
  for (const { name, start, end } of uses) {
    count(named, name);
    for (let member = members[i]; member !== undefined && member.end <= start; member = members[i]) i++;
    const member = members[i];
    if (member?.cut === undefined || end <= member.cut.start) continue;
    const counts = inside.get(member) ?? new Map();
    inside.set(member, counts);
    count(counts, name);
  }
  return { named, inside };
}

/** A name in a query; `undefined` for one with an escape, which may spell any name. */
interface Use {
  readonly name: string | undefined;
  readonly start: number;
  readonly end: number;
}

function findUses(sql: string): Use[] {
  const named = [...scanTokens(sql)].filter(({ kind }) => kind === 'word' || kind === 'name');
  return named.map(({ kind, start, end }) => {
    const text = sql.slice(start, end);
    return { name: kind === 'name' && text.includes('\\') ? undefined : unquote(text), start, end };
  });
}

/** @param ranges in order; two may share a comma */
function removeRanges(
  sql: string,
  ranges: readonly { readonly start: number; readonly end: number }[],
): string {
  let text = '';
  let at = 0;
  for (const { start, end } of ranges) {
    text += sql.slice(at, Math.max(at, start));
    at = end;
  }
  return text + sql.slice(at);
}

/** The tokens of a query with a WITH list, which begins at token 1. */
interface ListTokens {
  readonly sql: string;
  readonly tokens: readonly SqlToken[];
  /** Opening → closing bracket, by index. */
  readonly closing: ReadonlyMap<number, number>;
  /** Closing → opening bracket. */
  readonly opening: ReadonlyMap<number, number>;
  /** Index of the final SELECT. */
  readonly end: number;
}

// Comments may come before it.
const BEGINS_WITH = /^\s*(?:WITH\b|--|\/|#)/i;

/** The named members of a query's WITH list, and where the final SELECT begins. */
function findMembers(sql: string): { members: readonly Member[]; end: number } | undefined {
  if (!BEGINS_WITH.test(sql)) return undefined;
  const tokens = [...scanTokens(sql)].filter((token) => token.kind !== 'comment');
  const { closing, opening, end } = pairBrackets(sql, tokens, (i) => isWord({ sql, tokens }, i, 'SELECT'));
  const final = end === undefined ? undefined : tokens[end];
  if (!isWord({ sql, tokens }, 0, 'WITH') || end === undefined || final === undefined) return undefined;
  const list = { sql, tokens, closing, opening, end };
  const members: Member[] = [];
  const start = isWord(list, 1, 'RECURSIVE') ? 2 : 1;
  let first = start; // of the member
  for (let i = start; i < end; i = (closing.get(i) ?? i) + 1) {
    if (isComma(list, i)) first = i + 1;
    const member = isWord(list, i, 'AS') ? readMember(list, first, i) : undefined;
    if (member !== undefined) members.push(member);
  }
  return { members, end: final.start };
}

function isWord({ sql, tokens }: Pick<ListTokens, 'sql' | 'tokens'>, i: number, word: string): boolean {
  const token = tokens[i];
  return token?.kind === 'word' && sql.slice(token.start, token.end).toUpperCase() === word;
}

function isComma({ sql, tokens }: ListTokens, i: number): boolean {
  return sql.charAt(tokens[i]?.start ?? sql.length) === ',';
}

/** The member that begins at token `first`, with its AS at `as`. */
function readMember(list: ListTokens, first: number, as: number): Member | undefined {
  const { sql, tokens, closing, opening, end } = list;
  const close = closing.get(as + 1);
  const isView = close !== undefined && ['SELECT', 'WITH'].some((word) => isWord(list, as + 2, word));
  const lastAt = isView ? close : as + 1;
  const isFollowed = isComma(list, lastAt + 1);
  if (!isView && !isFollowed && lastAt + 1 !== end) return undefined;
  const nameAt = isView ? nameBefore(as, opening) : lastAt;
  const [start, open, last, name] = [tokens[first], tokens[as + 1], tokens[lastAt], tokens[nameAt]];
  if (start === undefined || open === undefined || last === undefined || name === undefined) return undefined;
  // A name inside an expression may be used outside of it.
  const isCuttable = isView || !tokens.slice(first, as).some((_, at) => isWord(list, first + at, 'AS'));
  const before = isComma(list, first - 1) ? tokens[first - 1] : undefined;
  // The engine allows a comma after the last member of the list.
  const after = isFollowed && lastAt + 2 < end ? tokens[lastAt + 1] : undefined;
  return {
    name: unquote(sql.slice(name.start, name.end)),
    body: isView ? { start: open.end, end: last.start } : undefined,
    end: last.end,
    comma: before,
    cut: isCuttable ? findCut({ start, last }, { before, after }) : undefined,
  };
}

/** The range that removes a member: its tokens and one of the commas beside it. */
function findCut(
  { start, last }: { start: SqlToken; last: SqlToken },
  { before, after }: { before: SqlToken | undefined; after: SqlToken | undefined },
): Member['cut'] {
  if (after !== undefined) return { start: start.start, end: after.end };
  return before && { start: before.start, end: last.end };
}

/** Index of a view's name: before AS, or before the list of columns in `name (a, b) AS (SELECT …)`. */
function nameBefore(as: number, opening: ReadonlyMap<number, number>): number {
  return (opening.get(as - 1) ?? as) - 1;
}

/** Brackets by index, both ways, and the first token outside of all of them that ends the list. */
function pairBrackets(sql: string, tokens: readonly SqlToken[], isEnd: (i: number) => boolean) {
  const closing = new Map<number, number>();
  const opening = new Map<number, number>();
  const open: number[] = [];
  for (const [i, { kind, start }] of tokens.entries()) {
    if (open.length === 0 && isEnd(i)) return { closing, opening, end: i };
    if (kind !== 'sign') continue;
    if ('([{'.includes(sql.charAt(start))) open.push(i);
    const from = ')]}'.includes(sql.charAt(start)) ? open.pop() : undefined;
    if (from === undefined) continue;
    closing.set(from, i);
    opening.set(i, from);
  }
  return { closing, opening, end: undefined };
}

function unquote(name: string): string {
  return /^[`"\u201c]/.test(name) ? name.slice(1, -1) : name;
}
