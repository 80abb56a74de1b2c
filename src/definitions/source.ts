import { type Static, Type } from 'typebox';
import type { Fault } from './fault.ts';
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

/** SQL over the columns of an existing table, and where it stands in the source's file. */
export interface Expression {
  /** Of the column that it gives. */
  readonly name: string;
  readonly sql: string;
  readonly line: number;
}

/** A table that is there without Tailrace, which reads it as it is and never changes it. */
export interface ExternalTable {
  /** `undefined`: that of Tailrace's own tables. */
  readonly database: string | undefined;
  readonly table: string;
  /** Where it is named in the source's file. */
  readonly line: number;
  /** Of the columns of every event; those that are left out have a rule of their own. */
  readonly common: readonly Expression[];
  /** Of the typed columns, each by its name. */
  readonly typed: readonly Expression[];
}

/** A kind of log: its wire name, its table, and what is taken from its events. */
export interface Source {
  readonly id: string;
  readonly name: string;
  readonly table: string;
  readonly description: string;
  /** Infinite where the events are not Tailrace's to keep. */
  readonly retentionDays: number;
  /** Where an event says whose it is; the first place that holds a text wins. */
  readonly projectPaths: readonly (readonly string[])[];
  readonly columns: readonly SourceColumn[];
  /** Where given, the source's table is a view of this one: nothing is stored there, and nothing leaves. */
  readonly external: ExternalTable | undefined;
  readonly file: string;
}

/** Whether the source's table is Tailrace's own, which makes it, stores events in it and lets them go. */
export function isManaged(source: Source): boolean {
  return source.external === undefined;
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
  description: Type.String({ expected: 'a text' }),
};

const COLUMN_TYPE = Type.Enum(['string', 'keyword', 'integer', 'number', 'boolean'], {
  expected: 'one of string, keyword, integer, number, boolean',
});

const COLUMN_NAMES = {
  additionalProperties: false,
  expected: 'a column name of small letters, digits and underscores',
};

const SOURCE_FILE = Type.Object(
  {
    ...IDENTITY,
    managed: Type.Optional(Type.Literal(true, { expected: 'true or false' })),
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
            type: COLUMN_TYPE,
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
        COLUMN_NAMES,
      ),
    ),
  },
  { additionalProperties: false, expected: 'a map of fields' },
);

export type SourceFile = Static<typeof SOURCE_FILE>;

const SQL = Type.String({
  pattern: '\\S',
  expected: 'an expression of ClickHouse SQL over the columns of "from"',
});

const TABLE_NAME = Type.String({
  pattern: '^[A-Za-z_][A-Za-z0-9_.-]{0,199}$',
  expected: 'a name of letters, digits, underscores, dots and dashes',
});

const EXTERNAL_FILE = Type.Object(
  {
    ...IDENTITY,
    managed: Type.Literal(false, { expected: 'true or false' }),
    from: Type.Object(
      { database: Type.Optional(TABLE_NAME), table: TABLE_NAME },
      { additionalProperties: false, expected: 'a map with "table" and, where it is another, "database"' },
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
    columns: Type.Optional(
      Type.Record(
        Type.String({ pattern: COLUMN_NAME }),
        Type.Object(
          { type: COLUMN_TYPE, expression: SQL, description: Type.String({ expected: 'a text' }) },
          { additionalProperties: false },
        ),
        COLUMN_NAMES,
      ),
    ),
  },
  { additionalProperties: false, expected: 'a map of fields' },
);

type ExternalFile = Static<typeof EXTERNAL_FILE>;

const checkManagedShape = createShapeCheck(SOURCE_FILE);
const checkExternalShape = createShapeCheck(EXTERNAL_FILE);

/** Faults of shape: unknown, missing or wrong fields. */
export function checkSourceShape(file: YamlFile): Fault[] {
  return isExternalFile(file) ? checkExternalShape(file) : checkManagedShape(file);
}

function isExternalFile({ value }: YamlFile): boolean {
  return (value as { managed?: unknown } | null)?.managed === false;
}

const RETENTION_DAYS = 90; // the longest tier window of logs.all (spec 4.2)

/** The source that a file of good shape defines. */
export function createSource(file: YamlFile): Source {
  // Either is proven by checkSourceShape, which readDefinitions runs first.
  return isExternalFile(file)
    ? createExternal(file, file.value as ExternalFile)
    : createManaged(file, file.value as SourceFile);
}

function createManaged({ file }: YamlFile, value: SourceFile): Source {
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
    external: undefined,
    file,
  };
}

function createExternal(file: YamlFile, value: ExternalFile): Source {
  const { map, columns = {} } = value;
  const lineOf = (...path: string[]) => file.fault(path, '').line;
  return {
    id: value.id.toLowerCase(),
    name: value.name,
    table: value.table,
    description: value.description,
    retentionDays: Number.POSITIVE_INFINITY,
    projectPaths: [],
    columns: Object.entries(columns).map(([name, { type, description }]) => ({
      name,
      type,
      path: [],
      otherwise: undefined,
      hasSubstringIndex: false,
      description,
    })),
    external: {
      database: value.from.database,
      table: value.from.table,
      line: lineOf('from'),
      common: Object.entries(map).map(([name, sql]) => ({ name, sql, line: lineOf('map', name) })),
      typed: Object.entries(columns).map(([name, { expression: sql }]) => ({
        name,
        sql,
        line: lineOf('columns', name, 'expression'),
      })),
    },
    file: file.file,
  };
}

function toPath(path: string | readonly string[]): readonly string[] {
  return typeof path === 'string' ? path.split('.') : path;
}
