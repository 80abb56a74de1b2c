import { type Static, Type } from 'typebox';
import type { Fault } from '../errors.ts';
import { ACCEPTS, FILTER_FIELDS, PATH } from './accepts.ts';
import { LEVEL_FIELDS } from './level.ts';
import { createShapeCheck, wholeNumber } from './shape.ts';
import type { YamlFile } from './yaml-file.ts';

const DAYS_MAX = 36_500;
export const DAY_SECONDS = 86_400;

export const UUID_TEXT = Type.String({
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
  expected: 'a UUID, such as 7f0c3a52-5f0b-4a57-9b1c-2f6f3f2b9d10',
});

const MAP = { additionalProperties: false, expected: 'a map of fields' };
const DESCRIPTION = Type.String({ expected: 'a string' });

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
  description: DESCRIPTION,
};

const COLUMN_TYPE = Type.Enum(['string', 'keyword', 'integer', 'number', 'boolean'], {
  expected: 'one of string, keyword, integer, number, boolean',
});

const COLUMN_NAMES = {
  additionalProperties: false,
  expected: 'a column name of small letters, digits and underscores',
};

const LINKS_MAX = 32;
// Names joined by dots, as in a search (docs/search.md).
const NAME = String.raw`(?:"(?:[^"\\]|\\.)*"|[^\s()":.*]+)`;
// The host is fixed: a value of an event must not choose where a link leads.
const URL = String.raw`^https?://[A-Za-z0-9._~:\[\]-]+([/?#][^\s<>"]*)?$`;

/** `links` of a source's file. */
const LINKS = Type.Array(
  Type.Object(
    {
      label: Type.String({ minLength: 1, maxLength: 60, expected: 'a string of 1 to 60 characters' }),
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
      additionalProperties: false,
      expected: '{ label, field, url }, such as { label: Trace, field: trace_id, url: "https://…/{value}" }',
    },
  ),
  { maxItems: LINKS_MAX, expected: `a list of at most ${LINKS_MAX} { label, field, url }` },
);

export const MANAGED_FILE = Type.Object(
  {
    ...IDENTITY,
    managed: Type.Optional(Type.Literal(true, { expected: 'true or false' })),
    internal: Type.Optional(Type.Boolean({ expected: 'true or false' })),
    protected: Type.Optional(Type.Boolean({ expected: 'true or false' })),
    retention_days: Type.Optional(wholeNumber(DAYS_MAX, 'of days ')),
    project: PATH,
    event_id: Type.Optional(PATH),
    message: Type.Optional(PATH),
    time: Type.Optional(PATH),
    accepts: Type.Optional(ACCEPTS),
    ...FILTER_FIELDS,
    level: Type.Optional(LEVEL_FIELDS),
    links: Type.Optional(LINKS),
    columns: Type.Optional(
      Type.Record(
        Type.String({ pattern: COLUMN_NAME }),
        Type.Object(
          {
            type: COLUMN_TYPE,
            path: Type.Optional(PATH),
            column: Type.Optional(Type.String({ expected: 'the name of a column' })),
            contains: Type.Optional(
              Type.Union(
                [
                  Type.String({ minLength: 1, maxLength: 100 }),
                  Type.Object({ column: Type.String() }, { additionalProperties: false }),
                ],
                { expected: 'a string of 1 to 100 characters, or { column: project }' },
              ),
            ),
            otherwise: Type.Optional(
              Type.Array(Type.String(), { maxItems: 8, expected: 'a list of names of columns' }),
            ),
            index: Type.Optional(
              Type.Literal('substrings', { expected: 'substrings, the only kind of index' }),
            ),
            description: DESCRIPTION,
          },
          { additionalProperties: false },
        ),
        COLUMN_NAMES,
      ),
    ),
    rollup: Type.Optional(
      Type.Object(
        {
          every: wholeNumber(DAY_SECONDS, 'of seconds '),
          by: Type.Optional(
            Type.Array(Type.String(), {
              maxItems: 4,
              uniqueItems: true,
              expected: 'a list of at most 4 different columns of this file',
            }),
          ),
          values: Type.Array(
            Type.String({ pattern: '\\S', maxLength: 1_000, expected: 'an aggregate of ClickHouse SQL' }),
            { minItems: 1, maxItems: 32, expected: 'a list of 1 to 32 aggregates of ClickHouse SQL' },
          ),
        },
        MAP,
      ),
    ),
  },
  MAP,
);

export type ManagedFile = Static<typeof MANAGED_FILE>;

const SQL = Type.String({
  pattern: '\\S',
  expected: 'an expression of ClickHouse SQL over the columns of "from"',
});

const TABLE_NAME = Type.String({
  pattern: '^[A-Za-z_][A-Za-z0-9_.-]{0,199}$',
  expected: 'a name of letters, digits, underscores, dots and dashes',
});

export const EXTERNAL_FILE = Type.Object(
  {
    ...IDENTITY,
    managed: Type.Literal(false, { expected: 'true or false' }),
    from: Type.Object(
      { database: Type.Optional(TABLE_NAME), table: TABLE_NAME },
      { additionalProperties: false, expected: 'a map with "table" and, if it is another one, "database"' },
    ),
    map: Type.Object(
      {
        id: Type.Optional(SQL),
        timestamp: SQL,
        project: SQL,
        event_message: Type.Optional(SQL),
        metadata: Type.Optional(SQL),
        attributes: Type.Optional(SQL),
      },
      { additionalProperties: false, expected: 'a map of the columns of every event' },
    ),
    level: Type.Optional(LEVEL_FIELDS),
    links: Type.Optional(LINKS),
    columns: Type.Optional(
      Type.Record(
        Type.String({ pattern: COLUMN_NAME }),
        Type.Object(
          { type: COLUMN_TYPE, expression: SQL, description: DESCRIPTION },
          { additionalProperties: false },
        ),
        COLUMN_NAMES,
      ),
    ),
  },
  MAP,
);

export type ExternalFile = Static<typeof EXTERNAL_FILE>;

const checkManagedShape = createShapeCheck(MANAGED_FILE);
const checkExternalShape = createShapeCheck(EXTERNAL_FILE);

/** Finds faults of shape: unknown, missing or wrong fields. */
export function checkSourceShape(file: YamlFile): Fault[] {
  return isExternalFile(file) ? checkExternalShape(file) : checkManagedShape(file);
}

/** Whether the file defines a source over an existing table. */
export function isExternalFile({ value }: YamlFile): boolean {
  return (value as { managed?: unknown } | null)?.managed === false;
}
