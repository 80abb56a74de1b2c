import { type Static, type TObject, Type } from 'typebox';
import { closed, listOf, oneOf, shortText } from '../lib/schema.ts';

/** The protocols whose events sources may accept, as src/ingest/protocols/ implements them. */
export const PROTOCOL_NAMES = ['loki', 'elasticsearch'] as const;

export type ProtocolName = (typeof PROTOCOL_NAMES)[number];

/** Every protocol whose events may be accepted: OTLP has its own routes. */
const ACCEPTED = [...PROTOCOL_NAMES, 'otlp'] as const;

export type AcceptedProtocol = (typeof ACCEPTED)[number];

/** The name of the source for events that no other source accepts. */
export const GENERAL_SOURCE = 'logs';

const VALUE_CHARS_MAX = 200;
const EXPECTED = 'a string that is not empty, or a list of them; a * at the end stands for any text';
const ACCEPT_FIELDS = '{ protocol, label, equals }, such as { protocol: loki, label: app, equals: gateway }';

/** `accepts` of a source's file. */
export const ACCEPTS = listOf(
  closed(
    {
      protocol: oneOf(ACCEPTED),
      label: shortText(VALUE_CHARS_MAX, { expected: 'the name of a label, such as app' }),
      equals: Type.Union([shortText(VALUE_CHARS_MAX), listOf(shortText(VALUE_CHARS_MAX), [1, 32], 'texts')], {
        expected: EXPECTED,
      }),
    },
    { expected: ACCEPT_FIELDS },
  ),
  [0, 32],
  ACCEPT_FIELDS,
);

/**
 * A rule by which a source accepts events of a protocol that name no source. In `equals`, a text that ends with `*` is
 * the beginning of the label's text.
 */
export type Accept = ReturnType<typeof createAccepts>[number];

export function createAccepts(accepts: Static<typeof ACCEPTS>) {
  return accepts.map(({ equals, ...rule }) => ({ ...rule, equals: [equals].flat() }));
}

/** Whether a rule accepts an event with these labels. */
export function accepts({ label, equals }: Accept, labels: Readonly<Record<string, unknown>>): boolean {
  const value = Object.hasOwn(labels, label) ? labels[label] : undefined;
  if (typeof value !== 'string') return false;
  return equals.some((text) => (text.endsWith('*') ? value.startsWith(text.slice(0, -1)) : value === text));
}

const MEMBER_NAMES = Type.Array(Type.String(), { minItems: 1, maxItems: 32 });

/** Paths to a value of an event, from its root. `toPaths` reads it. */
export const PATH = Type.Union(
  [
    Type.String({ minLength: 1 }),
    Type.Array(Type.Union([Type.String(), MEMBER_NAMES]), { minItems: 1, maxItems: 32 }),
  ],
  {
    expected:
      'member names joined by dots, or a list of such paths, of which the first that exists ' +
      'counts; a path whose names have dots is a list, such as [[metadata, http.status]]',
  },
);

/**
 * Returns the paths of a checked `path` or `project`, each as member names. A list that begins with `metadata` by
 * itself is one path: no column can have all of the metadata.
 */
export function toPaths(value: Static<typeof PATH>): readonly (readonly string[])[] {
  if (typeof value === 'string') return [value.split('.')];
  const names = value.filter((one) => typeof one === 'string');
  if (names.length === value.length && names[0] === 'metadata') return [names];
  return value.map((one) => (typeof one === 'string' ? one.split('.') : one));
}

const SEARCH_CHARS_MAX = 2_000;
const RULES_MAX = 16;
const PATTERN_CHARS_MAX = 500;
const REPLACEMENT = '[redacted]';

const SEARCH = Type.String({
  pattern: '\\S',
  maxLength: SEARCH_CHARS_MAX,
  expected: 'a search, such as request.path:/health level:<error',
});

const WITH = Type.Optional(Type.String({ maxLength: 200 }));

const REDACTION = Type.Union(
  [closed({ field: PATH, with: WITH }), closed({ pattern: shortText(PATTERN_CHARS_MAX), with: WITH })],
  {
    expected:
      '{ field: metadata.user.email } or { pattern: "[0-9]{16}", with: card }, with a pattern of ' +
      `RE2 of at most ${PATTERN_CHARS_MAX} characters`,
  },
);

/** `drop` and `redact` of a source's file. */
export const FILTER_FIELDS = {
  drop: Type.Optional(
    Type.Union([SEARCH, Type.Array(SEARCH, { minItems: 1, maxItems: RULES_MAX })], {
      expected: `a search, such as request.path:/health, or a list of at most ${RULES_MAX}`,
    }),
  ),
  redact: Type.Optional(listOf(REDACTION, [0, RULES_MAX], 'redactions')),
};

/**
 * What happens to a source's events before they are stored: those that match a search of `drop` (docs/search.md) are not
 * stored, and then values of the others are replaced.
 */
export type EventFilter = Readonly<NonNullable<ReturnType<typeof createEventFilter>>>;

/** A value that is replaced before an event is stored. */
export type Redaction =
  | { readonly paths: readonly (readonly string[])[]; readonly replacement: string }
  | { readonly pattern: string; readonly replacement: string };

/** Returns what the checked fields of a source's file say; `undefined` without any rule. */
export function createEventFilter(fields: Static<TObject<typeof FILTER_FIELDS>>) {
  const { drop = [], redact = [] } = fields;
  if (drop.length === 0 && redact.length === 0) return undefined;
  return {
    drop: [drop].flat(),
    redact: redact.map(
      ({ with: replacement = REPLACEMENT, ...rule }): Redaction =>
        'pattern' in rule
          ? { pattern: rule.pattern, replacement }
          : { paths: toPaths(rule.field), replacement },
    ),
  };
}
