import { renderText, TEMPLATE_CHARS_MAX } from '../../../src/alerts/receivers/template.ts';
import type { ParameterFields, ParameterType } from '../../../src/definitions/parameter-type.ts';
import { TEXT_TYPES } from '../../../src/definitions/text-type.ts';
import { VALUE_TYPES } from '../../../src/definitions/value-type.ts';
import { YAML_TOKENS_MAX } from '../../../src/definitions/yaml-bounds.ts';
import { parseYaml } from '../../../src/definitions/yaml-file.ts';
import { parseTimestamp } from '../../../src/ingest/event.ts';
import { parseInstant } from '../../../src/lib/instant.ts';
import {
  addTemplates,
  type Groups,
  mergeTemplates,
  type Template,
} from '../../../src/search/analysis/merge.ts';
import { TEMPLATES_OTHER_MAX, TEMPLATES_TOP_MAX, TURN_MAX } from '../../../src/search/analysis/patterns.ts';
import { parseMeasure } from '../../../src/search/measure.ts';
import { parseField, parseSearch } from '../../../src/search/parse.ts';
import { findPatternFault, PATTERN_BYTES_MAX } from '../../../src/sql/pattern.ts';
import { isPlainPattern } from '../../../src/sql/search-guard.ts';
import { createMatcher } from '../../../src/sql/text-matcher.ts';
import { readDraft } from '../../../src/workbench/draft.ts';
import { PATTERN_TOKENS } from '../../pattern-tokens.ts';
import { distinct, type Parser, refusing } from '../parser.ts';
import { SQL_CHARS_MAX } from './sql.ts';

const PARAMETER_CHARS_MAX = 65_536;
const SEARCH_CHARS_MAX = 8_192;
const CLAUSES_MAX = 128;
const MATCHED_CHARS_MAX = 1_000;

const PATTERN_NESTS = [
  ['(', ')'],
  ['(?:', ')'],
  ['(?i:', ')'],
  ['(?P<a>', ')'],
  ['(', '){2}'],
  ['(', ')*'],
  ['(', ')?'],
  ['(a|', ')'],
  ['[', ']'],
  ['[[:alpha:]', ']'],
] as const;

/** The largest patterns that are accepted, as a parameter's definition may have them. */
const LARGE_PATTERNS = [
  '(a{100}){24}',
  '(a?){100}',
  '\\pL\\pL',
  '([a-z]|[0-9]){50}',
  '(.*x){10}',
  '(?i)(abc|abd){30}',
];

function typed(
  type: ParameterType,
  declared: Omit<ParameterFields, 'type' | 'description'>,
  tokens: string[],
): Parser {
  const rules = type.createRules({ type: 'string', description: '', ...declared }, () => {}) ?? fail();
  const parse = (text: string) => refusing(() => [rules.parse(text), rules.parseList?.(text.split('&'))]);
  return { charsMax: PARAMETER_CHARS_MAX, tokens, parse };
}

// As many messages, as long, as one search merges.
const TEMPLATES_MAX = TEMPLATES_TOP_MAX + TEMPLATES_OTHER_MAX;
const TEMPLATE_CHARS = 500;
const MESSAGE_TOKENS = ['a', ' ', '"', "'", '<num>', '/', 'user', '…', '\n', '=', '\u{1d11e}'];

/** Messages of the same form, cut at their length. */
function toTemplates(text: string): Template[] {
  const count = Math.ceil(text.length / TEMPLATE_CHARS);
  return Array.from({ length: count }, (_, i) => ({
    text: text.slice(i * TEMPLATE_CHARS, (i + 1) * TEMPLATE_CHARS),
    ...{ weight: 1, first: i, last: i, sample: `e${i}` },
  }));
}

/** Reads the words of as many messages as a search reads in one turn. */
function readGroups(text: string): Groups {
  const groups: Groups = new Map();
  addTemplates(groups, toTemplates(text));
  return groups;
}

/** The last ones: merging is a turn by itself, after those that read the words. */
let read: { readonly text: string; readonly groups: Groups } | undefined;

function mergeRead(text: string): readonly Template[] {
  if (read?.text !== text) read = { text, groups: readGroups(text) };
  return mergeTemplates(read.groups);
}

/** Writes messages word by word. */
function divide(chars: number, word: (line: number, place: number) => string): string {
  const places = 80;
  const line = (nth: number) =>
    Array.from({ length: places }, (_, place) => word(nth, place))
      .join(' ')
      .padEnd(TEMPLATE_CHARS)
      .slice(0, TEMPLATE_CHARS);
  return distinct(line)(chars);
}

/** As large as an alert's variables can be. */
const TEXT_VARIABLES = {
  a: 'x'.repeat(70_000),
  list: Array.from({ length: 1_000 }, () => 'y'.repeat(1_000)),
};

const choices = Array.from({ length: 1_000 }, (_, i) => `choice ${i}`);
const DEFINITION = 'name: a.b\ndescription: d\nmax_rows: 10\ncaching: disabled\n';

export const TEXT_PARSERS: Readonly<Record<string, Parser>> = {
  timestamp: {
    charsMax: PARAMETER_CHARS_MAX,
    tokens: ['1', '2026-11-20', 'T', ' ', '-', ':', 'Z', '.', '+'],
    parse: parseInstant,
  },
  'timestamp of an event': {
    charsMax: PARAMETER_CHARS_MAX,
    tokens: ['1', '2026-11-20', 'T', ' ', '.', '\\', '\u00a0'],
    parse: (text) => parseTimestamp(JSON.stringify(text)),
  },
  'an integer': typed(VALUE_TYPES.integer, {}, ['1', '-', '+', '0', ' ', 'e', '9']),
  'a number': typed(VALUE_TYPES.number, {}, ['1', '-', '+', '0', '.', 'e', '9', 'e+1']),
  'a boolean': typed(VALUE_TYPES.boolean, {}, ['true', '1', ' ']),
  'a date': typed(VALUE_TYPES.date, {}, ['2026-11-20', '-', '1', ' ']),
  'a UUID': typed(VALUE_TYPES.uuid, {}, ['a', '-', '7f0c3a52-', '0']),
  'a choice': typed(TEXT_TYPES.enum, { values: choices }, ['choice ', '1', ',']),
  'a list of texts': typed(VALUE_TYPES.list, { of: 'string', max_items: 1_000 }, [
    'a',
    ',',
    "'",
    '\\',
    '&',
    '\n',
  ]),
  'a list of choices': typed(VALUE_TYPES.list, { of: 'enum', values: choices, max_items: 1_000 }, [
    ...['choice 999,', 'choice 999&', 'x,', '&', 'choice '],
  ]),
  'a list of integers': typed(VALUE_TYPES.list, { of: 'integer', max_items: 1_000 }, [
    '1',
    ',',
    '-',
    '9',
    '&',
  ]),
  'a list of UUIDs': typed(VALUE_TYPES.list, { of: 'uuid', max_items: 1_000 }, ['a', ',', '-', '&']),
  ...Object.fromEntries(
    LARGE_PATTERNS.map((pattern) => [
      `a text for the pattern ${pattern}`,
      {
        ...typed(TEXT_TYPES.string, { pattern, max_length: MATCHED_CHARS_MAX }, [
          'a',
          'b',
          'x',
          '0',
          '\u00e9',
          ' ',
          'ab',
        ]),
        charsMax: MATCHED_CHARS_MAX,
      },
    ]),
  ),
  'a measure of a search': {
    charsMax: PARAMETER_CHARS_MAX,
    tokens: ['p95', 'avg', '(', ')', 'a.b', ' ', '"', '\\', '.', '\n'],
    parse: (text) => refusing(() => parseMeasure(text)),
  },
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
      'words that differ step by step': (chars) =>
        divide(chars, (line, place) => (line > place ? 'a' : `b${line % 7}`)),
      'words of 7 kinds': (chars) => divide(chars, (line, place) => `w${(line * (place + 1)) % 7}`),
      'words of many kinds': (chars) => divide(chars, (line, place) => `w${(line * 31 + place * 17) % 997}`),
    },
    parse: mergeRead,
  },
  pattern: {
    charsMax: PARAMETER_CHARS_MAX,
    tokens: ['a', ...PATTERN_TOKENS],
    nests: PATTERN_NESTS,
    parse: (text) => [findPatternFault(text), findPatternFault(text) ?? isPlainPattern(text)],
  },
  'pattern of a definition': {
    charsMax: PATTERN_BYTES_MAX,
    tokens: [
      'a',
      '\\pL',
      '[a-z]',
      '.',
      'a{10}',
      '(a|b)',
      '[^a]',
      '(?i)a',
      'a{1000}',
      'é',
      '\\w',
      '|',
      ...PATTERN_TOKENS,
    ],
    nests: PATTERN_NESTS,
    shapes: Object.fromEntries(LARGE_PATTERNS.map((pattern) => [pattern, () => pattern])),
    parse: (text) => findPatternFault(text) ?? createMatcher(text),
  },
  'text of an alert': {
    charsMax: TEMPLATE_CHARS_MAX,
    tokens: [
      ...[
        '{{ a }}',
        '{{ a',
        ' | append: a',
        ' | replace: "", a',
        ' | split: ""',
        ' | join: a',
        ' | size',
        ' | plus: 1',
      ],
      ...[
        '{% if a %}',
        '{% endif %}',
        '{% for i in (1..300) %}',
        '{% for i in list %}',
        '{% endfor %}',
        ' and a',
        '}}',
      ],
      ...[
        '{% assign a = a | append: a %}',
        '{% assign a = list | join: a %}',
        '{% raw %}',
        '{% comment %}',
        '[',
        '"',
      ],
      ...[
        '{%',
        '%}',
        ' ',
        '\n',
        'a',
        '.a',
        '(1..300)',
        '{{ list }}',
        '{{ 1 }}',
        '{% case a %}',
        '{% when 1 %}',
        '-',
      ],
    ],
    nests: [
      ['{% if a %}', '{% endif %}'],
      ['{% for i in (1..300) %}', '{% endfor %}'],
      ['{% for i in list %}{{ a }}', '{% endfor %}'],
      ['a[', ']'],
    ],
    shapes: {
      'a loop over filters': (chars) =>
        `{% for i in (1..300) %}{{ a${' | append: "b"'.repeat((chars - 50) / 14)} }}{% endfor %}`,
      'a loop over conditions': (chars) =>
        `{% for i in (1..300) %}{% if a${' and a'.repeat((chars - 60) / 6)} %}{% endif %}{% endfor %}`,
    },
    parse: (text) => refusing(() => renderText(text, TEXT_VARIABLES)),
  },
  search: {
    charsMax: SEARCH_CHARS_MAX,
    tokens: [
      'a',
      ' ',
      '"',
      '\\',
      '(',
      ')',
      '-',
      'not ',
      'or ',
      ' and ',
      'a:',
      'a:>',
      '*',
      '.',
      '":',
      'a.b:c ',
      '"a".',
      '\u00a0',
    ],
    nests: [
      ['(', ')'],
      ['not (', ')'],
      ['-(', ')'],
      ['(a or ', ')'],
      ['"', '"'],
    ],
    parse: (text) => refusing(() => parseSearch(text, CLAUSES_MAX)),
  },
  'field of a search': {
    charsMax: SEARCH_CHARS_MAX,
    tokens: ['a', '.', '"', '\\', 'a.', '"a".', ':', '""'],
    parse: (text) => refusing(() => parseField(text, 'field')),
  },
  'definition of a draft': {
    charsMax: SQL_CHARS_MAX,
    tokens: [
      ...[
        '[',
        ']',
        '{',
        '}',
        'a: ',
        '- ',
        '? ',
        ', ',
        ': ',
        '\n',
        ' ',
        '&a ',
        '*a ',
        '! ',
        '!!str ',
        '| ',
        '|\n',
        '> ',
      ],
      ...['"', "'", '# ', '%', '@', '---\n', '...\n', '<<: ', '\t', '\r\n', '\\', 'a:\n ', '- - ', '\u00e9'],
    ],
    nests: [
      ['[', ']'],
      ['{a: ', '}'],
      ['{? ', '}'],
      ['[{a: ', '}]'],
      ['"', '"'],
      ['- ', ''],
    ],
    shapes: {
      'keys that differ': distinct((i) => `k${i}: 1\n`),
      'keys in braces': distinct((i) => `k${i},`, ['{', 'z}']),
      'lists in lists': (chars) => distinct((i) => `${' '.repeat(i % 300)}-\n`)(chars),
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
    parse: (text) => readDraft({ definition: text, sql: '' }, [], '').faults,
  },
  'definition in a file': {
    charsMax: SQL_CHARS_MAX,
    tokens: ['[', '{', 'a: ', '- ', '\n'],
    nests: [
      ['[', ']'],
      ['{a: ', '}'],
      ['- ', ''],
    ],
    parse: (text) => parseYaml('endpoint.yaml', text, YAML_TOKENS_MAX.draft),
  },
  'SQL of a draft': {
    charsMax: SQL_CHARS_MAX,
    tokens: ['@a', '@a,', ' ', "'", '\n', '\0', 'SELECT ', '(', '/*', '@cursor_', '\u00e9'],
    shapes: { 'names that differ': distinct((i) => `@a${i},`) },
    parse: (text) => readDraft({ definition: DEFINITION, sql: text }, [], '').faults,
  },
};

function fail(): never {
  throw new Error('the declaration has a fault');
}
