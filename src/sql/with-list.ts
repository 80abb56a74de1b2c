import { type Edit, parseSql, type TextRange, type Word } from './parse.ts';

/** The WITH list of a query. */
export interface WithList {
  /** Views, `name AS (SELECT …)`, in order; without named expressions. At least one. */
  readonly views: readonly WithView[];
  /** Offset of the final SELECT. */
  readonly end: number;
}

export interface WithView {
  readonly name: string;
  readonly select: TextRange;
  /** All of the view, with the comma after it if there is one. */
  readonly member: TextRange;
}

/** Indexes of the first and the last word of `name AS (SELECT …)`, `expression AS name` or another member of the list. */
interface Member {
  readonly first: number;
  readonly last: number;
  /** `undefined` if other parts of the query may use a name that the member gives within itself. */
  readonly name: string | undefined;
  readonly select: TextRange | undefined;
}

/** A name that needs no quotes, in SQL or in the engine's trees. */
export const PLAIN_NAME = /^[A-Za-z_]\w*$/;

/** The WITH list of a query, by words and brackets only: the check of a definition compares it with the engine's reading. */
export function findWithList(sql: string): WithList | undefined {
  const { words } = parseSql(sql);
  const list = findMembers(words);
  const views = list?.members.flatMap(({ name, select, first, last }) => {
    if (name === undefined || select === undefined) return [];
    const [from, next] = [words[first], words[last + 1]];
    const end = (next?.key === ',' ? next : words[last])?.end ?? 0;
    return { name, select, member: { start: from?.start ?? 0, end } };
  });
  return list && views?.length ? { views, end: list.select.start } : undefined;
}

/**
 * Removes the members of a query's WITH list that it does not name, directly or through another. A name counts
 * anywhere, so in doubt one stays. Takes linear time.
 *
 * @param edits of the query, in order: the names in what they replace do not count
 */
export function removeUnused(sql: string, edits: readonly Edit[] = []): Edit[] {
  const { words } = parseSql(sql);
  const { members = [], end = 0 } = findMembers(words) ?? {};
  const isUnclear = words.some(({ kind, text }) => kind === 'name' && text.includes('\\')); // may spell any name
  if (members.length < 2 || isUnclear) return [];
  const kept = findUsed(readNames(words, edits), members, end);
  const lastKept = members.findLastIndex((member) => kept.has(member));
  const cut = (from: number, to: number): Edit => ({
    start: words[from]?.start ?? 0,
    end: words[to]?.end ?? 0,
    text: '',
  });
  const inner = members.slice(0, lastKept).filter((member) => !kept.has(member));
  const [keptLast, last] = [members[lastKept]?.last ?? 0, members.at(-1)?.last ?? 0];
  // Each with the comma after it; those at the end of the list with the comma before them.
  return [
    ...inner.map((member) => cut(member.first, member.last + 1)),
    ...(keptLast < last ? [cut(keptLast + 1, last)] : []),
  ];
}

/** The name that each word is; `undefined` for other words and for those that edits replace. */
function readNames(words: readonly Word[], edits: readonly Edit[]): (string | undefined)[] {
  let next = 0;
  return words.map(({ kind, text, start }) => {
    while ((edits[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next++;
    const isReplaced = (edits[next]?.start ?? Number.POSITIVE_INFINITY) <= start;
    return !isReplaced && (kind === 'word' || kind === 'name') ? unquote(text) : undefined;
  });
}

/** The members that the final SELECT, which begins at `end`, needs; at least one, since a list is not empty. */
function findUsed(names: readonly (string | undefined)[], members: readonly Member[], end: number) {
  const byName = Map.groupBy(members, ({ name }) => name);
  const used = new Set<Member>(byName.get(undefined));
  byName.delete(undefined);
  const visit = (from: number, to: number) => {
    for (const name of names.slice(from, to)) {
      for (const member of byName.get(name) ?? []) used.add(member);
      byName.delete(name); // each is added once
    }
  };
  visit(end, names.length);
  if (used.size === 0) for (const member of members.slice(0, 1)) used.add(member);
  for (const { first, last } of used) visit(first, last + 1); // and those that are added meanwhile
  return used;
}

/** The members of a WITH list, and its final SELECT with the index. */
function findMembers(words: readonly Word[]) {
  const end = words.findIndex(({ key, depth }) => key === 'SELECT' && depth === 0);
  const select = words[end];
  if (words[0]?.key !== 'WITH' || select === undefined) return undefined;
  const start = words[1]?.key === 'RECURSIVE' ? 1 : 0;
  const commas = words.slice(0, end).flatMap(({ key, depth }, i) => (key === ',' && depth === 0 ? i : []));
  const ends = [...commas, end];
  const members = ends.flatMap((to, i) => readMember(words, (ends[i - 1] ?? start) + 1, to - 1) ?? []);
  return { members, end, select };
}

/** @returns `undefined` behind a comma at the end of the list, which the engine allows */
function readMember(words: readonly Word[], first: number, last: number): Member | undefined {
  if (last < first) return undefined;
  const open = words[last]?.pair ?? -1;
  const [from, to] = [words[open], words[last]];
  const isView =
    open > first && words[open - 1]?.key === 'AS' && /^(?:SELECT|WITH)$/.test(words[open + 1]?.key ?? '');
  if (isView && from !== undefined && to !== undefined) {
    const before = words[open - 2];
    const name = before?.pair === -1 ? before : words[(before?.pair ?? 0) - 1]; // `name (a, b) AS (SELECT …)`
    return { first, last, name: unquote(name?.text ?? ''), select: { start: from.end, end: to.start } };
  }
  // A name inside an expression may be used outside of it.
  const names = words.slice(first, last).filter(({ key }) => key === 'AS');
  const isNamed = names.length === 1 && words[last - 1]?.key === 'AS';
  return { first, last, name: isNamed ? unquote(to?.text ?? '') : undefined, select: undefined };
}

function unquote(name: string): string {
  return /^[`"\u201c]/.test(name) ? name.slice(1, -1) : name;
}
