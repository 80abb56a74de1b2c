import type { ColumnType, Expression, ExternalTable, Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { externalName, selectExternal } from '../engine/schema.ts';
import { type Fault, TailraceError } from '../errors.ts';
import { readSyntaxTree } from '../sandbox/syntax-tree.ts';
import { trusted } from '../sql/sql.ts';
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
