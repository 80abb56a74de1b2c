import { setImmediate } from 'node:timers/promises';
import type { AskStep, ResultColumn } from '../../definitions/endpoint.ts';
import { writeValue } from '../../sql/sql.ts';
import { column } from '../field.ts';
import {
  findSample,
  type PartRequest,
  type PlannedPart,
  printShare,
  readLimit,
  type SearchScope,
  writeArms,
  writeSample,
} from '../part.ts';

// Normalising takes the engine some 5 µs of a core for each message.
const ROWS_MAX = 50_000;
const PATTERNS_DEFAULT = 50;
// Templates that are merged on the event loop: the most frequent, and some of the others, which stand for all of them.
export const TEMPLATES_TOP_MAX = 800;
export const TEMPLATES_OTHER_MAX = 500;
// Templates whose words are read in one turn of the event loop.
export const TURN_MAX = 250;

const PATTERN_COLUMNS: readonly ResultColumn[] = [
  { name: 'pattern', type: 'string', description: 'Messages that are alike; what varies is in <…>.' },
  { name: 'count', type: 'integer', description: 'Events with such a message among those that were read.' },
  { name: 'share', type: 'number', description: 'Share of the events, 0 to 1.' },
  { name: 'first', type: 'integer', description: 'Time of the first, microseconds since the epoch, UTC.' },
  { name: 'last', type: 'integer', description: 'Time of the last, microseconds since the epoch, UTC.' },
  { name: 'sample', type: 'string', description: 'Identifier of the last.' },
];

/** Groups the messages of the events into patterns. */
export function planPatterns({ scope, values }: PartRequest): PlannedPart {
  const size = readLimit(values, PATTERNS_DEFAULT);
  return {
    columns: PATTERN_COLUMNS,
    maxRows: size,
    prepare: async (ask) => {
      const sample = await findSample(ask, scope, ROWS_MAX);
      const templates = await readTemplates(ask, scope, sample);
      const groups: Groups = new Map();
      for (let at = 0; at < templates.length; at += TURN_MAX) {
        addTemplates(groups, templates.slice(at, at + TURN_MAX));
        await setImmediate(); // other requests have their turn in between
      }
      const patterns = mergeTemplates(groups);
      return { writeSelect: () => writePatterns(patterns, size), sampledShare: printShare(1 / sample) };
    },
  };
}

const TEMPLATE_COLUMNS: readonly ResultColumn[] = [
  { name: 'text', type: 'string', description: 'Message with marks.' },
  { name: 'weight', type: 'number', description: 'Events that it stands for.' },
  ...PATTERN_COLUMNS.slice(3),
];

/** Reads the messages with marks for what varies by its form. */
async function readTemplates(ask: AskStep, scope: SearchScope, sample: number): Promise<Template[]> {
  const rows = await ask({
    columns: TEMPLATE_COLUMNS,
    maxRows: TEMPLATES_TOP_MAX + TEMPLATES_OTHER_MAX,
    writeSelect: () => writeTemplates(scope, sample),
  });
  return rows.map((row) => ({
    text: String(row['text']),
    weight: Number(row['weight']),
    first: Number(row['first']),
    last: Number(row['last']),
    sample: String(row['sample']),
  }));
}

function writeTemplates(scope: SearchScope, sample: number): string {
  const [id, time, message] = ['id', 'timestamp', 'event_message'].map(column);
  const arms = writeArms(scope, {
    sample: writeSample(sample),
    select: () => `${message} AS m, toUnixTimestamp64Micro(${time}) AS t, ${id} AS i`,
  });
  // The same message is often written again.
  const messages = `SELECT m, count() AS n, min(t) AS first, max((t, i)) AS latest FROM (\n${arms}\n) GROUP BY m`;
  const grouped =
    `SELECT ${writeNormalForm('m')} AS text, sum(n) AS events, min(first) AS first, max(latest) ` +
    `AS latest FROM (${messages}) GROUP BY text`;
  const ranked =
    `SELECT *, row_number() OVER (ORDER BY events DESC, text) <= ${TEMPLATES_TOP_MAX} AS top ` +
    `FROM (${grouped})`;
  const nth =
    'SELECT *, sum(events) OVER (PARTITION BY top) AS all, row_number() OVER (PARTITION BY top ' +
    `ORDER BY cityHash64(text), text) AS nth FROM (${ranked})`;
  const kept =
    `SELECT *, sum(events) OVER (PARTITION BY top) AS some FROM (${nth}) WHERE top OR nth <= ` +
    `${TEMPLATES_OTHER_MAX}`;
  return (
    'SELECT text, events * all / some AS weight, first, latest.1 AS last, latest.2 AS sample ' +
    `FROM (${kept}) ORDER BY text`
  );
}

/** Writes the rows as literals, so that the engine gives them the form of the answer. */
function writePatterns(patterns: readonly Template[], size: number): string {
  const total = patterns.reduce((sum, { weight }) => sum + weight, 0);
  const rows = patterns.slice(0, size).map(({ text, weight, first, last, sample }) => {
    const share = Number((weight / total).toFixed(6));
    return `(${writeValue(text)}, ${writeValue(sample)}, ${Math.round(weight)}, ${share}, ${first}, ${last})`;
  });
  const type = 'Array(Tuple(String, String, Int64, Float64, Int64, Int64))';
  return `SELECT r.1 AS pattern, r.3 AS count, r.4 AS share, r.5 AS first, r.6 AS last, r.2 AS sample
FROM (SELECT arrayJoin(CAST([${rows.join(', ')}], '${type}')) AS r) LIMIT ${size}`;
}

/** Characters of a message that are looked at; a longer one ends with `…`. */
const CHARS_MAX = 500;

const TIME = '[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?';

/**
 * What stands for the parts of a message that vary, in the order of the replacements: patterns of RE2, whose time is
 * linear. Texts such as `v1` and `db2` keep their digits; a word that mixes digits and letters is an identifier.
 */
const REPLACEMENTS: readonly (readonly [pattern: string, by: string])[] = [
  [
    String.raw`\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]${TIME}(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?)?\b`,
    '<time>',
  ],
  [String.raw`\b[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?\b`, '<time>'],
  [String.raw`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`, '<id>'],
  [String.raw`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`, '<email>'],
  [
    [
      String.raw`\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b`,
      String.raw`\b(?:[0-9a-fA-F]{1,4}:){3,7}:?[0-9a-fA-F]{1,4}\b`,
      String.raw`\b[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,5}::(?:[0-9a-fA-F]{1,4})?`,
    ].join('|'),
    '<ip>',
  ],
  [String.raw`\b0[xX][0-9a-fA-F]+\b`, '<hex>'],
  // A number between other characters than those of words, with its fractions, and one before its unit.
  [String.raw`(\b|_)[0-9]+(?:[.,][0-9]+)*(\b|_|[a-zA-Z%]{1,2}\b)`, String.raw`\1<num>\2`],
  [String.raw`\b[0-9a-f]{7,}\b|\b[0-9A-F]{7,}\b|\b[A-Za-z]*(?:[0-9]+[A-Za-z]+){2,}[0-9]*\b`, '<id>'],
  ['[0-9]{3,}', '<num>'],
];

/** Writes the message with a mark for each part that varies by its form. */
function writeNormalForm(message: string): string {
  const cut = `if(length(${message}) > ${CHARS_MAX}, concat(substringUTF8(${message}, 1, ${CHARS_MAX}), '…'), ${message})`;
  return REPLACEMENTS.reduce(
    (sql, [pattern, by]) => `replaceRegexpAll(${sql}, ${writeValue(pattern)}, ${writeValue(by)})`,
    cut,
  );
}

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
interface Group {
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
