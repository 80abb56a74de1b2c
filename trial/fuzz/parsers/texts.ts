import { findTextFaults, renderText } from '../../../src/alerts/text.ts';
import type { ParameterFields, ParameterType } from '../../../src/definitions/parameter-type.ts';
import { TYPES } from '../../../src/definitions/value-type.ts';
import { parseYaml, YAML_TOKENS_MAX } from '../../../src/definitions/yaml-file.ts';
import { parseTimestamp } from '../../../src/ingest/event.ts';
import { parseInstant } from '../../../src/lib/instant.ts';
import {
  addTemplates,
  type Groups,
  mergeTemplates,
  TEMPLATES_OTHER_MAX,
  TEMPLATES_TOP_MAX,
  type Template,
  TURN_MAX,
} from '../../../src/search/analysis/patterns.ts';
import { parseMeasure } from '../../../src/search/histogram.ts';
import { parseField, parseSearch } from '../../../src/search/parse.ts';
import { createMatcher, findPatternFault, PATTERN_BYTES_MAX } from '../../../src/sql/pattern.ts';
import { isPlainPattern } from '../../../src/sql/search-guard.ts';
import { readDraft } from '../../../src/workbench/draft.ts';
import { PATTERN_TOKENS } from '../../pattern-tokens.ts';
import { distinct, nest, type Parser, reader, rejecting, split } from '../parser.ts';
import { SQL_CHARS_MAX } from './sql.ts';

const PARAMETER_CHARS_MAX = 65_536;
const SEARCH_CHARS_MAX = 8_192;
const CLAUSES_MAX = 128;
const MATCHED_CHARS_MAX = 1_000;
const ALERT_CHARS_MAX = 4_000;
const LONG_VALUES = { a: '\u{1f600}'.repeat(32_768) };

const PATTERN_NESTS = nest('(…)¦(?i:…)¦(?P<a>…)¦(…){2}¦(…)*¦(a|…)¦[…]¦[[:alpha:]…]');

/** The largest patterns that are accepted, as a parameter's definition may have them. */
const LARGE_PATTERNS = split('(a{100}){24}¦(a?){100}¦\\pL\\pL¦([a-z]|[0-9]){50}¦(.*x){10}¦(?i)(abc|abd){30}');

/** A value of a parameter, and of a list of such values. */
function typed(
  type: ParameterType,
  declared: Omit<ParameterFields, 'type' | 'description'>,
  tokens: string,
): Parser {
  const rules = type.createRules({ type: 'string', description: '', ...declared }, () => {});
  if (rules === undefined) throw new Error('the declaration has a fault');
  const parse = (text: string) => rejecting(() => [rules.parse(text), rules.parseList?.(text.split('&'))]);
  return { charsMax: PARAMETER_CHARS_MAX, tokens: split(tokens), parse };
}

const CHOICES = Array.from({ length: 1_000 }, (_, i) => `choice ${i}`);
const { list } = TYPES;
const OF_MANY = { max_items: 1_000 };

const PARAMETER_PARSERS: Readonly<Record<string, Parser>> = {
  'an integer': typed(TYPES.integer, {}, '1¦-¦+¦0¦ ¦e¦9'),
  'a number': typed(TYPES.number, {}, '1¦-¦+¦0¦.¦e¦9¦e+1'),
  'a boolean': typed(TYPES.boolean, {}, 'true¦1¦ '),
  'a date': typed(TYPES.date, {}, '2026-11-20¦-¦1¦ '),
  'a UUID': typed(TYPES.uuid, {}, 'a¦-¦7f0c3a52-¦0'),
  'a choice': typed(TYPES.enum, { values: CHOICES }, 'choice ¦1¦,'),
  'a list of texts': typed(list, { of: 'string', ...OF_MANY }, "a¦,¦'¦\\¦&¦\n"),
  'a list of choices': typed(list, { of: 'enum', values: CHOICES, ...OF_MANY }, 'choice 999,¦x,¦&¦choice '),
  'a list of integers': typed(list, { of: 'integer', ...OF_MANY }, '1¦,¦-¦9¦&'),
  'a list of UUIDs': typed(list, { of: 'uuid', ...OF_MANY }, 'a¦,¦-¦&'),
  ...Object.fromEntries(
    LARGE_PATTERNS.map((pattern): [string, Parser] => {
      const bounds = { pattern, max_length: MATCHED_CHARS_MAX };
      const parser = typed(TYPES.string, bounds, 'a¦b¦x¦0¦\u00e9¦ ¦ab');
      return [`a text for the pattern ${pattern}`, { ...parser, charsMax: MATCHED_CHARS_MAX }];
    }),
  ),
};

// As many messages, as long, as one search merges.
const TEMPLATES_MAX = TEMPLATES_TOP_MAX + TEMPLATES_OTHER_MAX;
const TEMPLATE_CHARS = 500;
const MESSAGE_TOKENS = split('a¦ ¦"¦\'¦<num>¦/¦user¦…¦\n¦=¦\u{1d11e}');

/** Reads the words of as many messages, cut at their length, as a search reads in one turn. */
function readGroups(text: string): Groups {
  const groups: Groups = new Map();
  const count = Math.ceil(text.length / TEMPLATE_CHARS);
  const templates = Array.from(
    { length: count },
    (_, i): Template => ({
      text: text.slice(i * TEMPLATE_CHARS, (i + 1) * TEMPLATE_CHARS),
      ...{ weight: 1, first: i, last: i, sample: `e${i}` },
    }),
  );
  addTemplates(groups, templates);
  return groups;
}

/** The last ones: merging is a turn by itself, after those that read the words. */
let read: { readonly text: string; readonly groups: Groups } | undefined;

function mergeRead(text: string): readonly Template[] {
  if (read?.text !== text) read = { text, groups: readGroups(text) };
  return mergeTemplates(read.groups);
}

/** Writes messages word by word. */
function messages(word: (line: number, place: number) => string): (chars: number) => string {
  return distinct((line) =>
    Array.from({ length: 80 }, (_, place) => word(line, place))
      .join(' ')
      .padEnd(TEMPLATE_CHARS)
      .slice(0, TEMPLATE_CHARS),
  );
}

const DEFINITION = 'name: a.b\ndescription: d\nmax_rows: 10\ncaching: disabled\n';

export const TEXT_PARSERS: Readonly<Record<string, Parser>> = {
  ...PARAMETER_PARSERS,
  timestamp: reader(PARAMETER_CHARS_MAX, '1¦2026-11-20¦T¦ ¦-¦:¦Z¦.¦+', parseInstant),
  'timestamp of an event': reader(PARAMETER_CHARS_MAX, '1¦2026-11-20¦T¦ ¦.¦\\¦\u00a0', (text) =>
    parseTimestamp(JSON.stringify(text)),
  ),
  'a measure of a search': reader(PARAMETER_CHARS_MAX, 'p95¦avg¦(¦)¦a.b¦ ¦"¦\\¦.¦\n', (text) =>
    rejecting(() => parseMeasure(text)),
  ),
  'words of a search by pattern': {
    charsMax: TURN_MAX * TEMPLATE_CHARS,
    tokens: MESSAGE_TOKENS,
    parse: readGroups,
  },
  'messages of a search by pattern': {
    charsMax: TEMPLATES_MAX * TEMPLATE_CHARS,
    tokens: MESSAGE_TOKENS,
    shapes: {
      'words that differ': distinct((i) => `user w${i} of w${i % 7} `),
      'words that differ step by step': messages((line, place) => (line > place ? 'a' : `b${line % 7}`)),
      'words of 7 kinds': messages((line, place) => `w${(line * (place + 1)) % 7}`),
      'words of many kinds': messages((line, place) => `w${(line * 31 + place * 17) % 997}`),
    },
    parse: mergeRead,
  },
  pattern: {
    charsMax: PARAMETER_CHARS_MAX,
    tokens: ['a', ...PATTERN_TOKENS],
    nests: PATTERN_NESTS,
    parse: (text) => findPatternFault(text) ?? isPlainPattern(text),
  },
  'pattern of a definition': {
    charsMax: PATTERN_BYTES_MAX,
    tokens: [...split('a¦\\pL¦[a-z]¦.¦a{10}¦(a|b)¦[^a]¦(?i)a¦a{1000}¦é¦\\w¦|'), ...PATTERN_TOKENS],
    nests: PATTERN_NESTS,
    shapes: Object.fromEntries(LARGE_PATTERNS.map((pattern) => [pattern, () => pattern])),
    parse: (text) => findPatternFault(text) ?? createMatcher(text),
  },
  'text of an alert': reader(ALERT_CHARS_MAX, '{{ a }}¦{{a}}¦{{¦}}¦{%¦%}¦{¦ ¦\n¦a¦é', (text) => [
    renderText(text, LONG_VALUES),
    findTextFaults(text, ['b']),
  ]),
  search: {
    charsMax: SEARCH_CHARS_MAX,
    tokens: split('a¦ ¦"¦\\¦(¦)¦-¦not ¦or ¦ and ¦a:¦a:>¦*¦.¦":¦a.b:c ¦"a".¦\u00a0'),
    nests: nest('(…)¦not (…)¦-(…)¦(a or …)¦"…"'),
    parse: (text) => rejecting(() => parseSearch(text, CLAUSES_MAX)),
  },
  'field of a search': reader(SEARCH_CHARS_MAX, 'a¦.¦"¦\\¦a.¦"a".¦:¦""', (text) =>
    rejecting(() => parseField(text, 'field')),
  ),
  'definition of a draft': {
    charsMax: SQL_CHARS_MAX,
    tokens: [
      ...split(
        '[¦]¦{¦}¦a: ¦- ¦? ¦, ¦: ¦\n¦ ¦&a ¦*a ¦! ¦!!str ¦| ¦|\n¦> ¦"¦\'¦# ¦%¦@¦---\n¦...\n¦<<: ¦\t¦\r\n',
      ),
      ...split('\\¦a:\n ¦- - ¦\u00e9'),
    ],
    nests: nest('[…]¦{a: …}¦{? …}¦[{a: …}]¦- …'),
    shapes: {
      'keys that differ': distinct((i) => `k${i}: 1\n`),
      'keys in braces': distinct((i) => `k${i},`, ['{', 'z}']),
      'lists in lists': distinct((i) => `${' '.repeat(i % 300)}-\n`),
      'merged maps': distinct((i) => `k${i}: {<<: *a}\n`, ['a: &a {b: 1}\n', '']),
      'aliases of aliases': distinct(
        (i) => `k${i}: &a${i + 1} [*a${i},*a${i},*a${i}]\n`,
        ['k: &a0 [x]\n', ''],
      ),
      'anchors that differ': distinct((i) => `- &a${i} 1\n`),
      'a long text': (chars) => `a: ${'word '.repeat(chars / 5 - 1)}`,
      'a long number': (chars) => `a: ${'1'.repeat(chars - 3)}`,
      documents: (chars) => '---\na: 1\n'.repeat(chars / 9),
    },
    parse: (text) => readDraft({ definition: text, sql: '' }, []).faults,
  },
  'definition in a file': {
    charsMax: SQL_CHARS_MAX,
    tokens: split('[¦{¦a: ¦- ¦\n'),
    nests: nest('[…]¦{a: …}¦- …'),
    parse: (text) => parseYaml('endpoint.yaml', text, YAML_TOKENS_MAX.draft),
  },
  'SQL of a draft': {
    charsMax: SQL_CHARS_MAX,
    tokens: split("@a¦@a,¦ ¦'¦\n¦\0¦SELECT ¦(¦/*¦@cursor_¦\u00e9"),
    shapes: { 'names that differ': distinct((i) => `@a${i},`) },
    parse: (text) => readDraft({ definition: DEFINITION, sql: text }, []).faults,
  },
};
