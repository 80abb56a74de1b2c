/** Messages that are alike, or were merged to a pattern. */
export interface Template {
  readonly text: string;
  /** Events that it stands for. */
  readonly weight: number;
  /** Microseconds since the epoch. */
  readonly first: number;
  readonly last: number;
  /** Identifier of the last event. */
  readonly sample: string;
}

// What is behind is not compared; with them, merging takes time that grows with the square of the words.
const TOKENS_MAX = 80;
/** A place of a message with so many words varies; one with fewer distinguishes messages, as methods and levels do. */
const VARIES_FROM = 8;
// A quoted text is one token. Quotes within a word are apostrophes.
const TOKEN = /"[^"\n]{0,200}"|(?<![\w])'[^'\n]{0,200}'(?!\w)|[\p{L}\p{N}_.<>-]+|\s+|[^\s]/gu;
const WORD = /^[\p{L}\p{N}_<]/u;
/** Marks of parts that may have either form by chance: some identifiers are numbers. */
const MARKS: ReadonlySet<string> = new Set(['<num>', '<hex>', '<id>']);
const ANY_MARK = '<id>';

interface Line {
  readonly template: Template;
  /** The words, between which are the separators of the group. */
  readonly words: readonly string[];
  /** The same for words that are alike. */
  readonly keys: readonly string[];
}

/** Lines with the same separators. */
export interface Group {
  /** `undefined` at the place of a word. */
  readonly separators: readonly (string | undefined)[];
  readonly lines: Line[];
}

/** Templates by their separators, of which `addTemplates` reads the words. */
export type Groups = Map<string, Group>;

/** Reads the words of templates. A few hundred at a time: the event loop has other work. */
export function addTemplates(groups: Groups, templates: readonly Template[]): void {
  for (const template of templates) {
    const tokens = readTokens(template.text);
    const separators = tokens.map((token) => (isWord(token) ? undefined : /^\s/.test(token) ? ' ' : token));
    const name = separators.map((one) => one ?? '\0').join('');
    const group = groups.get(name) ?? { separators, lines: [] };
    groups.set(name, group);
    const words = tokens.filter(isWord);
    group.lines.push({ template, words, keys: words.map((word) => (MARKS.has(word) ? ANY_MARK : word)) });
  }
}

/**
 * Merges templates that differ in words at places where many words stand: of messages with the same separators, those
 * places with the fewest words divide the messages, until at each place there is one word or many. A pattern keeps at
 * least half of its words. The result does not depend on the order of the templates, and is the most frequent first.
 */
export function mergeTemplates(groups: Groups): Template[] {
  const patterns = new Map<string, Template>();
  for (const { separators, lines } of groups.values()) {
    for (const cluster of divide(lines)) {
      const merged = merge(cluster, separators);
      const known = patterns.get(merged.text);
      patterns.set(merged.text, known === undefined ? merged : join([known, merged], merged.text));
    }
  }
  return [...patterns.values()].toSorted((a, b) => b.weight - a.weight || (a.text < b.text ? -1 : 1));
}

function readTokens(text: string): string[] {
  const tokens: string[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    if (tokens.push(token) <= TOKENS_MAX) continue;
    tokens[TOKENS_MAX] = '…';
    break;
  }
  return tokens;
}

const isQuoted = (token: string) => token.length > 1 && /^["']/.test(token);
const isWord = (token: string) => isQuoted(token) || WORD.test(token);

/** Divides lines into clusters, each of which is one pattern. */
function divide(lines: readonly Line[]): (readonly Line[])[] {
  const clusters: (readonly Line[])[] = [];
  const open = [lines];
  for (let some = open.pop(); some !== undefined; some = open.pop()) {
    const at = findDivision(some);
    if (at === undefined) clusters.push(some);
    else open.push(...Map.groupBy(some, ({ keys }) => keys[at]).values());
  }
  return clusters;
}

/** Returns the place with the fewest words, if it distinguishes messages. */
function findDivision(lines: readonly Line[]): number | undefined {
  const counts = lines[0]?.keys.map((_, place) => new Set(lines.map(({ keys }) => keys[place])).size) ?? [];
  const varied = counts.filter((count) => count > 1);
  const fewest = Math.min(...varied);
  const isPattern = fewest >= VARIES_FROM && (counts.length - varied.length) * 2 >= counts.length;
  return isPattern || varied.length === 0 ? undefined : counts.indexOf(fewest);
}

function merge(lines: readonly Line[], separators: readonly (string | undefined)[]): Template {
  let place = 0;
  const texts = separators.map((separator) => separator ?? writePlace(lines, place++));
  return join(
    lines.map(({ template }) => template),
    texts.join(''),
  );
}

function writePlace(lines: readonly Line[], place: number): string {
  const words = new Set(lines.map(({ words: own }) => own[place] ?? ''));
  const [first = ''] = words;
  if (words.size === 1) return first;
  if ([...words].every(isQuoted)) return '<text>';
  return [...words].every((word) => MARKS.has(word)) ? ANY_MARK : '<word>';
}

function join(templates: readonly Template[], text: string): Template {
  const newest = templates.reduce((a, b) =>
    b.last > a.last || (b.last === a.last && b.sample > a.sample) ? b : a,
  );
  return {
    text,
    weight: templates.reduce((sum, { weight }) => sum + weight, 0),
    first: templates.reduce((least, { first }) => Math.min(least, first), Number.POSITIVE_INFINITY),
    last: newest.last,
    sample: newest.sample,
  };
}
