import { type Static, Type } from 'typebox';
import { createShapeCheck } from './shape.ts';
import type { YamlFile } from './yaml-file.ts';

/** What a typed column may hold. A value of another type is null in the column and stays as it came in the metadata. */
export type ColumnType = 'string' | 'keyword' | 'integer' | 'number' | 'boolean';

/** A column taken from a path of the event, such as `metadata.request.path`. */
export interface SourceColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Member names from the event's root. */
  readonly path: readonly string[];
  /** Where given, the column is never null: where the path has no text, these columns' values stand in, joined. */
  readonly otherwise: readonly string[] | undefined;
  /** Whether the table has an index of what its texts contain. */
  readonly hasSubstringIndex: boolean;
  readonly description: string;
}

/** A kind of log: its wire name, its table, and what is taken from its events. */
export interface Source {
  readonly id: string;
  readonly name: string;
  readonly table: string;
  readonly description: string;
  readonly retentionDays: number;
  /** Where an event says whose it is; the first place that holds a text wins. */
  readonly projectPaths: readonly (readonly string[])[];
  readonly columns: readonly SourceColumn[];
  readonly file: string;
}

/** The places of an event that may name its project, in the order they are tried after the source's own. */
const PROJECT_PLACES = ['project', 'metadata.project_ref', 'metadata.project'];

const DAYS_MAX = 36_500;

export const UUID_TEXT = Type.String({
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
  expected: 'a UUID, such as 7f0c3a52-5f0b-4a57-9b1c-2f6f3f2b9d10',
});

const PATH = Type.Union(
  [Type.String({ minLength: 1 }), Type.Array(Type.String(), { minItems: 1, maxItems: 32 })],
  { expected: 'member names joined by dots, or a list of them where a name has a dot' },
);

// `__proto__` as a name of a JavaScript object's member would set its prototype instead.
const COLUMN_NAME = '^(?!__proto__$)[a-z_][a-z0-9_]{0,62}$';

const SOURCE_FILE = Type.Object(
  {
    id: UUID_TEXT,
    name: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
      expected: 'letters, digits, dots, dashes and underscores, at most 100',
    }),
    table: Type.String({
      pattern: COLUMN_NAME,
      expected: 'a table name of small letters, digits and underscores',
    }),
    description: Type.String({ expected: 'a text' }),
    retention_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: DAYS_MAX,
        expected: `a whole number of days from 1 to ${DAYS_MAX}`,
      }),
    ),
    project: PATH,
    columns: Type.Optional(
      Type.Record(
        Type.String({ pattern: COLUMN_NAME }),
        Type.Object(
          {
            type: Type.Enum(['string', 'keyword', 'integer', 'number', 'boolean'], {
              expected: 'one of string, keyword, integer, number, boolean',
            }),
            path: PATH,
            otherwise: Type.Optional(
              Type.Array(Type.String(), { maxItems: 8, expected: 'a list of names of columns' }),
            ),
            index: Type.Optional(
              Type.Literal('substrings', { expected: 'substrings, the only kind of index that there is' }),
            ),
            description: Type.String({ expected: 'a text' }),
          },
          { additionalProperties: false },
        ),
        { additionalProperties: false, expected: 'a column name of small letters, digits and underscores' },
      ),
    ),
  },
  { additionalProperties: false, expected: 'a map of fields' },
);

export type SourceFile = Static<typeof SOURCE_FILE>;

/** Faults of shape: unknown, missing or wrong fields. */
export const checkSourceShape = createShapeCheck(SOURCE_FILE);

const RETENTION_DAYS = 90; // the longest tier window of logs.all (spec 4.2)

/** The source that a file of good shape defines. */
export function createSource(file: YamlFile): Source {
  const value = file.value as SourceFile; // proven by checkSourceShape, which readDefinitions runs first
  const own = toPath(value.project);
  const others = PROJECT_PLACES.map(toPath).filter((path) => path.join('.') !== own.join('.'));
  return {
    id: value.id.toLowerCase(),
    name: value.name,
    table: value.table,
    description: value.description,
    retentionDays: value.retention_days ?? RETENTION_DAYS,
    projectPaths: [own, ...others],
    columns: Object.entries(value.columns ?? {}).map(([name, column]) => ({
      name,
      type: column.type,
      path: toPath(column.path),
      otherwise: column.otherwise,
      hasSubstringIndex: column.index === 'substrings',
      description: column.description,
    })),
    file: file.file,
  };
}

function toPath(path: string | readonly string[]): readonly string[] {
  return typeof path === 'string' ? path.split('.') : path;
}
