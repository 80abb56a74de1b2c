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

/** `drop`, `sample` and `redact` of a source's file. */
export const FILTER_FIELDS = {
  drop: Type.Optional(
    Type.Union([SEARCH, Type.Array(SEARCH, { minItems: 1, maxItems: RULES_MAX })], {
      expected: `a search, such as request.path:/health, or a list of at most ${RULES_MAX}`,
    }),
  ),
  sample: Type.Optional(
    Type.Object(
      {
        keep: Type.Number({ minimum: 0, maximum: 1, expected: 'the share that is kept, from 0 to 1' }),
        unless: Type.Optional(SEARCH),
        by: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, expected: 'a field, such as trace_id' }),
        ),
      },
      { additionalProperties: false, expected: 'a map such as { keep: 0.1, unless: "level:>=error" }' },
    ),
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
  readonly sample:
    | {
        /** Share of the traces that is stored, 0 to 1. */
        readonly keep: number;
        /** A search; events that match it are always stored. */
        readonly unless: string | undefined;
        /** The field whose values are kept or left out together. */
        readonly by: string;
      }
    | undefined;
  readonly redact: readonly Redaction[];
}

type FilterFields = {
  readonly [name in keyof typeof FILTER_FIELDS]?: Static<(typeof FILTER_FIELDS)[name]> | undefined;
};

/** Returns what the checked fields of a source's file say; `undefined` without any rule. */
export function createEventFilter({ drop = [], sample, redact = [] }: FilterFields): EventFilter | undefined {
  if (drop.length === 0 && sample === undefined && redact.length === 0) return undefined;
  return {
    drop: typeof drop === 'string' ? [drop] : drop,
    sample: sample && { keep: sample.keep, unless: sample.unless, by: sample.by ?? 'trace_id' },
    redact: redact.map((rule) => {
      const replacement = rule.with ?? REPLACEMENT;
      return 'pattern' in rule
        ? { pattern: rule.pattern, replacement }
        : { paths: toPaths(rule.field), replacement };
    }),
  };
}
