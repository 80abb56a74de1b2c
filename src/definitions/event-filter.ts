import { type Static, Type } from 'typebox';
import { PATH, toPaths } from './event-path.ts';

const SEARCH_CHARS_MAX = 2_000;
const RULES_MAX = 16;
const PATTERN_CHARS_MAX = 500;
const REPLACEMENT = '[redacted]';

const SEARCH = Type.String({
  pattern: '\\S',
  maxLength: SEARCH_CHARS_MAX,
  expected: 'a search, such as request.path:/health level:<error',
});

const WITH = Type.Optional(Type.String({ maxLength: 200, expected: 'a string of at most 200 characters' }));

const REDACTION = Type.Union(
  [
    Type.Object({ field: PATH, with: WITH }, { additionalProperties: false }),
    Type.Object(
      { pattern: Type.String({ minLength: 1, maxLength: PATTERN_CHARS_MAX }), with: WITH },
      { additionalProperties: false },
    ),
  ],
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
  redact: Type.Optional(
    Type.Array(REDACTION, { maxItems: RULES_MAX, expected: `a list of at most ${RULES_MAX} redactions` }),
  ),
};

/** A value that is replaced before an event is stored. */
export type Redaction =
  | { readonly paths: readonly (readonly string[])[]; readonly replacement: string }
  | { readonly pattern: string; readonly replacement: string };

/** What happens to a source's events before they are stored, in this order. */
export interface EventFilter {
  /** Searches (docs/search.md): events that match one are not stored. */
  readonly drop: readonly string[];
  readonly redact: readonly Redaction[];
}

type FilterFields = {
  readonly [name in keyof typeof FILTER_FIELDS]?: Static<(typeof FILTER_FIELDS)[name]> | undefined;
};

/** Returns what the checked fields of a source's file say; `undefined` without any rule. */
export function createEventFilter({ drop = [], redact = [] }: FilterFields): EventFilter | undefined {
  if (drop.length === 0 && redact.length === 0) return undefined;
  return {
    drop: typeof drop === 'string' ? [drop] : drop,
    redact: redact.map((rule) => {
      const replacement = rule.with ?? REPLACEMENT;
      return 'pattern' in rule
        ? { pattern: rule.pattern, replacement }
        : { paths: toPaths(rule.field), replacement };
    }),
  };
}
