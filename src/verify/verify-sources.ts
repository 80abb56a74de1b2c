import { MISREAD } from '../definitions/checks/source.ts';
import type { ColumnType, Expression, ExternalTable, Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { externalName, selectExternal } from '../engine/schema.ts';
import { tableColumns } from '../engine/table.ts';
import { type Fault, TailraceError } from '../errors.ts';
import { clause, givenNameOf, nameOf, parseQueryTree, readSyntaxTree, walk } from '../sandbox/syntax-tree.ts';
import { sql, trusted, writeValue } from '../sql/sql.ts';
import { findDisallowedSyntax } from './disallowed-syntax.ts';
import { engineMessage } from './engine-fault.ts';
import { bareType } from './verify.ts';

/** Has the engine check each expression of sources over existing tables; only the syntax if it does not have the tables. */
export async function verifyExternal(
  engine: Engine,
  sources: readonly Source[],
  hasTables: boolean,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const source of sources) {
    const { external } = source;
    if (external === undefined) continue;
    const syntax = await checkExpressions(source, external, async ({ sql }) =>
      findDisallowedSyntax(await readSyntaxTree(engine, `SELECT (${sql}\n)`)),
    );
    const isReadable = hasTables && syntax.length === 0;
    faults.push(...syntax, ...(isReadable ? await findTypeFaults(engine, source, external) : []));
  }
  return faults;
}

/** @param find returns the fault of an expression, if any; it may throw the engine's error */
async function checkExpressions(
  { file }: Source,
  { common, typed }: ExternalTable,
  find: (expression: Expression) => Promise<string | undefined>,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const expression of [...common, ...typed]) {
    const message = await find(expression).catch(engineMessage);
    if (message === undefined) continue;
    faults.push({ file, line: expression.line, message: `"${expression.name}" ${message}` });
  }
  return faults;
}

async function findTypeFaults(engine: Engine, source: Source, external: ExternalTable): Promise<Fault[]> {
  const from = externalName(external);
  try {
    await engine.inspect(trusted(`DESCRIBE TABLE (SELECT * FROM ${from})`));
  } catch (error) {
    const message = `"from" cannot be read: ${engineMessage(error)}`;
    return [{ file: source.file, line: external.line, message }];
  }
  const faults = await checkExpressions(source, external, async ({ name, sql }) => {
    const column = source.columns.find((one) => one.name === name);
    const types = await engine.inspect(trusted(`DESCRIBE TABLE (SELECT (${sql}\n) FROM ${from})`));
    if (types.length !== 1) return 'must be one expression';
    return findWrong(String(types[0]?.['type']), name, column?.type);
  });
  return faults.length > 0 ? faults : await findRightFaults(engine, source, external);
}

/** Checks that readers have the right to read the table. */
async function findRightFaults(engine: Engine, source: Source, external: ExternalTable): Promise<Fault[]> {
  try {
    const sql = `SELECT * FROM (${selectExternal(source, external)}) LIMIT 0`;
    await engine.query(sql, {}, { format: 'TSVRaw' });
    return [];
  } catch (error) {
    if (error instanceof TailraceError && error.code !== 'query_failed') throw error;
    const message = `"from" cannot be read by readers: ${engineMessage(error)}`;
    return [{ file: source.file, line: external.line, message }];
  }
}

const TEXT = { type: /^(?:String|FixedString\(\d+\)|Enum(?:8|16)\(.*\)|UUID)$/, name: 'a string' };

const TYPED: Record<ColumnType, { type: RegExp; name: string }> = {
  string: TEXT,
  keyword: TEXT,
  integer: { type: /^U?Int(?:8|16|32|64)$/, name: 'an integer of at most 64 bits' },
  number: { type: /^(?:U?Int\d+|Float\d+|Decimal.*)$/, name: 'a number' },
  boolean: { type: /^Bool$/, name: 'a Bool' },
};

const TIME = { type: /^DateTime(?:64)?(?:\(.*\))?$/, name: 'a DateTime or DateTime64' };

function findWrong(type: string, name: string, columnType: ColumnType | undefined): string | undefined {
  const right = columnType !== undefined ? TYPED[columnType] : name === 'timestamp' ? TIME : TEXT;
  if (!right.type.test(bareType(type))) return `must be ${right.name}, and is ${type}`;
  if (columnType === undefined && type.includes('Nullable('))
    return `must not be null, and is ${type}: give it a value instead of null, as in ifNull(…, '')`;
  return undefined;
}

/** Has the engine check the aggregates of each rollup, which do not need the table to exist. */
export async function verifyRollups(engine: Engine, sources: readonly Source[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  const withRollup = sources.filter(({ rollup }) => rollup !== undefined);
  const texts = withRollup.flatMap(({ rollup }) => rollup?.values ?? []).map(({ sql }) => sql);
  const changing = await readChangingFunctions(engine, texts);
  for (const source of withRollup) {
    const values = source.rollup?.values ?? [];
    const check = async (find: (sql: string) => Promise<string | undefined>) => {
      for (const { sql, line } of values) {
        const message = await find(sql).catch(engineMessage);
        if (message === undefined) continue;
        faults.push({ file: source.file, line, message: `"values" of "rollup": ${message}` });
      }
    };
    const known = faults.length;
    await check(async (sql) => {
      return (await findDisallowed(engine, sql, changing)) ?? (await findNoAggregate(engine, source, sql));
    });
    if (faults.length > known) continue;
    // One statement for all, so that a start does not wait for one each.
    const all = values.map(({ sql }) => sql);
    if ((await findSampleFault(engine, source, all)) !== undefined)
      await check((sql) => findSampleFault(engine, source, [sql]));
  }
  return faults;
}

/** @throws the engine's error */
async function findNoAggregate(engine: Engine, source: Source, sql: string): Promise<string | undefined> {
  const columns = tableColumns(source).map(
    ({ name, type }) => `defaultValueOfTypeName(${writeValue(type)}) AS \`${name}\``,
  );
  const rows = await engine.inspect(
    trusted(`EXPLAIN QUERY TREE SELECT (${sql}\n) FROM (SELECT ${columns.join(', ')}) GROUP BY project`),
  );
  // Brackets within the aggregate could close those around it.
  const [value, ...others] = clause(parseQueryTree(rows.map((row) => String(row['explain']))), 'PROJECTION');
  if (value?.text.includes(', function_type: aggregate, ') && others.length === 0) return undefined;
  return 'must be one aggregate over columns of the source, such as max(status_code)';
}

/** Tries extreme rows: the engine aggregates each batch before it stores it, so an event that fails could not be stored. */
async function findSampleFault(
  engine: Engine,
  source: Source,
  all: readonly string[],
): Promise<string | undefined> {
  const values = all.map((sql) => `(${sql}\n)`).join(', ');
  try {
    await engine.inspect(trusted(`SELECT tuple(${values}) FROM (${sampleRows(source)}) GROUP BY project`));
    return undefined;
  } catch (error) {
    return `must not fail for any event: ${engineMessage(error)}`;
  }
}

const SAMPLES: readonly (readonly [type: RegExp, values: readonly string[]])[] = [
  [/String/, ["''", "'x'", "'-1'", "'\\0'", "'9e999'", "'('"]],
  [/Int64/, ['0', '-1', '500', `${Number.MAX_SAFE_INTEGER}`, `-${Number.MAX_SAFE_INTEGER}`]],
  [/Float64/, ['0', '-1', '5e-324', `${Number.MAX_VALUE}`, `-${Number.MAX_VALUE}`]],
  [/Bool/, ['true', 'false']],
  [/DateTime64/, ["'1900-01-01'", "'1970-01-01'", "'2299-12-31'"]],
];
const SAMPLE_ROWS = 100;

/** Writes rows that combine extreme values of their columns. */
function sampleRows(source: Source): string {
  const columns = tableColumns(source).map(({ name, type }, index) => {
    const values = SAMPLES.find(([of]) => of.test(type))?.[1] ?? [];
    const all = type.includes('Nullable(') ? ['NULL', ...values] : values;
    const list = all.map((value) => `CAST(${value}, ${writeValue(type)})`).join(', ');
    return `[${list}][1 + cityHash64(row, ${index}) % ${all.length}] AS \`${name}\``;
  });
  return `SELECT ${columns.join(', ')} FROM (SELECT arrayJoin(range(${SAMPLE_ROWS})) AS row)`;
}

/** Finds what may not be part of a kept aggregate: it would depend on more than the event. */
async function findDisallowed(
  engine: Engine,
  sql: string,
  changing: ReadonlySet<string>,
): Promise<string | undefined> {
  const tree = await readSyntaxTree(engine, `SELECT (${sql}\n)`);
  const disallowed = findDisallowedSyntax(tree);
  if (disallowed !== undefined) return disallowed;
  for (const node of walk(tree)) {
    const { kind } = node;
    if (kind === 'Subquery') return 'must not have a subquery';
    if (/Asterisk|Matcher|Transformer/.test(kind)) return 'must not have *: name the columns';
    if (givenNameOf(node) !== undefined) return 'must not have an alias';
    const name = nameOf(node);
    if (kind === 'Identifier' && MISREAD.includes(name.toLowerCase()))
      return `must not use the column "${name}", which is a word of SQL`;
    if (kind === 'Function' && changing.has(name.toLowerCase()))
      return `must not call ${name}(): it depends on more than the event`;
  }
  return undefined;
}

/** Returns those of the functions in texts. */
async function readChangingFunctions(engine: Engine, texts: readonly string[]): Promise<ReadonlySet<string>> {
  const words = texts.flatMap((text) => text.toLowerCase().match(/\w+/g) ?? []);
  if (words.length === 0) return new Set();
  // Versions of the engine differ in the name of the column.
  const rows = await engine.inspect(
    sql`SELECT lower(name) AS function, COLUMNS('^(is_)?deterministic$') FROM system.functions
      WHERE lower(name) IN (${[...new Set(words)]})`,
  );
  const changing = rows.filter((row) => (row['deterministic'] ?? row['is_deterministic']) === 0);
  return new Set([...changing.map((row) => String(row['function'])), 'arrayjoin', 'unnest']);
}
