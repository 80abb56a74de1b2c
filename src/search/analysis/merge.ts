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
  for (const template of templates) addTo(groups, template);
}

/**
 * Merges templates that differ in words at places where many words stand: of messages with the same separators, those
 * places with the fewest words divide the messages, until at each place there is one word or many. A pattern keeps at
 * least half of its words. The result does not depend on the order of the templates, and is the most frequent first.
 */
export function mergeTemplates(groups: Groups): Template[] {
  const patterns = new Map<string, Template>();
  for (const { separators, lines } of groups.values()) {
    const places = separators.filter((one) => one === undefined).length;
    for (const cluster of divide(number(lines, places), lines, places)) {
      const merged = merge(cluster, separators);
      const known = patterns.get(merged.text);
      patterns.set(merged.text, known === undefined ? merged : join([known, merged], merged.text));
    }
  }
  return [...patterns.values()].toSorted((a, b) => b.weight - a.weight || (a.text < b.text ? -1 : 1));
}

function addTo(groups: Groups, template: Template): void {
  const tokens = readTokens(template.text);
  const separators = tokens.map((token) => (isWord(token) ? undefined : /^\s/.test(token) ? ' ' : token));
  const key = separators.map((one) => one ?? '\0').join('');
  const group = groups.get(key) ?? { separators, lines: [] };
  groups.set(key, group);
  group.lines.push({ template, words: tokens.filter(isWord) });
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

/** Returns the number of each line's word at each place: the same for the same word. */
function number(lines: readonly Line[], places: number): Uint32Array[] {
  const numbers = new Map<string, number>();
  return lines.map(({ words }) => {
    const row = new Uint32Array(places);
    words.forEach((text, place) => {
      const word = MARKS.has(text) ? ANY_MARK : text;
      const known = numbers.get(word) ?? numbers.size;
      numbers.set(word, known);
      row[place] = known;
    });
    return row;
  });
}

/** Divides lines into clusters, each of which is one pattern. */
function divide(numbers: readonly Uint32Array[], lines: readonly Line[], places: number): Line[][] {
  const clusters: Line[][] = [];
  const open: number[][] = [lines.map((_, i) => i)];
  for (let rows = open.pop(); rows !== undefined; rows = open.pop()) {
    const at = findDivision(numbers, rows, places);
    if (at === undefined) clusters.push(rows.flatMap((row) => lines[row] ?? []));
    else open.push(...Map.groupBy(rows, (row) => numbers[row]?.[at]).values());
  }
  return clusters;
}

/** Returns the place with the fewest words, if it distinguishes messages. */
function findDivision(
  numbers: readonly Uint32Array[],
  rows: readonly number[],
  places: number,
): number | undefined {
  let fewest = Number.POSITIVE_INFINITY;
  let found: number | undefined;
  let fixed = 0;
  for (let place = 0; place < places; place++) {
    const count = countWords(numbers, rows, place);
    if (count === 1) fixed++;
    else if (count < fewest) {
      fewest = count;
      found = place;
    }
  }
  return fewest < VARIES_FROM || fixed * 2 < places ? found : undefined;
}

function countWords(numbers: readonly Uint32Array[], rows: readonly number[], place: number): number {
  const [first = 0] = rows;
  const one = numbers[first]?.[place];
  if (rows.every((row) => numbers[row]?.[place] === one)) return 1;
  const seen = new Set<number | undefined>();
  for (const row of rows) seen.add(numbers[row]?.[place]);
  return seen.size;
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
