import { type Static, type TProperties, Type } from 'typebox';
import { closed, listOf, oneOf, optional, shortText, wholeNumber } from '../lib/schema.ts';
import { ACCEPTS, FILTER_FIELDS, PATH } from './accepts.ts';
import { LEVEL_FIELDS } from './level.ts';

const DAYS_MAX = 36_500;
export const DAY_SECONDS = 86_400;

export const UUID_TEXT = Type.String({
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
  expected: 'a UUID, such as 7f0c3a52-5f0b-4a57-9b1c-2f6f3f2b9d10',
});

// Columns are kept in plain objects, in which `__proto__` cannot be a member.
const COLUMN_NAME = '^(?!__proto__$)[a-z_][a-z0-9_]{0,62}$';

const IDENTITY = {
  id: UUID_TEXT,
  name: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
    expected: 'letters, digits, dots, dashes and underscores, at most 100',
  }),
  table: Type.String({
    pattern: COLUMN_NAME,
    expected: 'a table name of small letters, digits and underscores',
  }),
  description: Type.String(),
};

const COLUMN_TYPE = oneOf(['string', 'keyword', 'integer', 'number', 'boolean']);

const COLUMN_NAMES = {
  additionalProperties: false,
  expected: 'a column name of small letters, digits and underscores',
};

// Names joined by dots, as in a search (docs/search.md).
const NAME = String.raw`(?:"(?:[^"\\]|\\.)*"|[^\s()":.*]+)`;
// The host is fixed: a value of an event must not choose where a link leads.
const URL = String.raw`^https?://[A-Za-z0-9._~:\[\]-]+([/?#][^\s<>"]*)?$`;

/** `links` of a source's file: in `url`, `{value}` stands for the value, `{…}` for another field; both are encoded. */
const LINKS = listOf(
  closed(
    {
      label: shortText(60),
      field: Type.String({
        maxLength: 300,
        pattern: `^${NAME}(?:\\.${NAME})*$`,
        expected: 'the name of a field as a search writes it, such as trace_id or request.path',
      }),
      url: Type.String({
        maxLength: 2_000,
        pattern: URL,
        expected:
          'an address such as https://traces.example.com/trace/{value}, which begins with http or ' +
          'https and has {…} only behind the host',
      }),
    },
    {
      expected: '{ label, field, url }, such as { label: Trace, field: trace_id, url: "https://…/{value}" }',
    },
  ),
  [0, 32],
  '{ label, field, url }',
);

/** Typed columns by name. @param fields of each besides its type and description */
const columnsOf = <T extends TProperties>(fields: T) =>
  Type.Record(
    Type.String({ pattern: COLUMN_NAME }),
    closed({ type: COLUMN_TYPE, ...fields, description: Type.String() }),
    COLUMN_NAMES,
  );

const TRUE_OR_FALSE = { expected: 'true or false' };

export const MANAGED_FILE = closed({
  ...IDENTITY,
  ...optional({
    managed: Type.Literal(true, TRUE_OR_FALSE),
    internal: Type.Boolean(),
    protected: Type.Boolean(),
    retention_days: wholeNumber(DAYS_MAX, 'days'),
  }),
  project: PATH,
  ...optional({ event_id: PATH, message: PATH, time: PATH, accepts: ACCEPTS }),
  ...FILTER_FIELDS,
  ...optional({
    level: LEVEL_FIELDS,
    links: LINKS,
    columns: columnsOf(
      optional({
        path: PATH,
        column: Type.String({ expected: 'the name of a column' }),
        contains: Type.Union([shortText(100), closed({ column: Type.String() })], {
          expected: 'a string of 1 to 100 characters, or { column: project }',
        }),
        otherwise: Type.Array(Type.String(), { maxItems: 8, expected: 'a list of names of columns' }),
        index: Type.Literal('substrings', { expected: 'substrings, the only kind of index' }),
      }),
    ),
    rollup: closed({
      every: wholeNumber(DAY_SECONDS, 'seconds'),
      by: Type.Optional(listOf(Type.String(), [0, 4], 'different columns of this file')),
      values: listOf(
        Type.String({ pattern: '\\S', maxLength: 1_000, expected: 'an aggregate of ClickHouse SQL' }),
        [1, 32],
        'aggregates of ClickHouse SQL',
      ),
    }),
  }),
});

export type ManagedFile = Static<typeof MANAGED_FILE>;

const SQL = Type.String({
  pattern: '\\S',
  expected: 'an expression of ClickHouse SQL over the columns of "from"',
});

const TABLE_NAME = Type.String({
  pattern: '^[A-Za-z_][A-Za-z0-9_.-]{0,199}$',
  expected: 'a name of letters, digits, underscores, dots and dashes',
});

export const EXTERNAL_FILE = closed({
  ...IDENTITY,
  managed: Type.Literal(false, TRUE_OR_FALSE),
  from: closed(
    { database: Type.Optional(TABLE_NAME), table: TABLE_NAME },
    { expected: 'a map with "table" and, if it is another one, "database"' },
  ),
  map: closed(
    {
      id: Type.Optional(SQL),
      timestamp: SQL,
      project: SQL,
      ...optional({ event_message: SQL, metadata: SQL, attributes: SQL }),
    },
    { expected: 'a map of the columns of every event' },
  ),
  ...optional({ level: LEVEL_FIELDS, links: LINKS, columns: columnsOf({ expression: SQL }) }),
});

export type ExternalFile = Static<typeof EXTERNAL_FILE>;
