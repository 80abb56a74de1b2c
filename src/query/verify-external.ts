import type { Fault } from '../definitions/fault.ts';
import type { ColumnType, Expression, ExternalTable, Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { externalName, selectExternal } from '../engine/external.ts';
import { TailraceError } from '../errors.ts';
import { readSyntaxTree } from './syntax-tree.ts';
import { bareType, engineMessage, findUnfit } from './verify.ts';

/**
 * Has the engine check the expressions of sources over existing tables, each by itself, so that a fault is reported on its line.
 *
 * @param hasTables whether the engine has the tables; without them only the syntax is checked
 */
export async function verifyExternal(
  engine: Engine,
  sources: readonly Source[],
  hasTables: boolean,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const source of sources) {
    const { external } = source;
    if (external === undefined) continue;
    const syntax = await findSyntaxFaults(engine, source, external);
    const isReadable = hasTables && syntax.length === 0;
    faults.push(...syntax, ...(isReadable ? await findTypeFaults(engine, source, external) : []));
  }
  return faults;
}

async function findSyntaxFaults(engine: Engine, source: Source, external: ExternalTable): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const expression of [...external.common, ...external.typed]) {
    try {
      const unfit = findUnfit(await readSyntaxTree(engine, `SELECT (${expression.sql}\n)`));
      if (unfit !== undefined) faults.push(at(source, expression, unfit));
    } catch (error) {
      faults.push(at(source, expression, engineMessage(error)));
    }
  }
  return faults;
}

async function findTypeFaults(engine: Engine, source: Source, external: ExternalTable): Promise<Fault[]> {
  const from = externalName(external);
  try {
    await engine.inspect(`DESCRIBE TABLE (SELECT * FROM ${from})`);
  } catch (error) {
    return [fault(source, external.line, `"from" cannot be read: ${engineMessage(error)}`)];
  }
  const faults: Fault[] = [];
  for (const expression of [...external.common, ...external.typed]) {
    const column = source.columns.find(({ name }) => name === expression.name);
    try {
      const types = await engine.inspect(`DESCRIBE TABLE (SELECT (${expression.sql}\n) FROM ${from})`);
      const wrong =
        types.length === 1 ? findWrong(String(types[0]?.['type']), expression.name, column?.type) : ONE;
      if (wrong !== undefined) faults.push(at(source, expression, wrong));
    } catch (error) {
      faults.push(at(source, expression, engineMessage(error)));
    }
  }
  return faults.length > 0 ? faults : await findRightFaults(engine, source, external);
}

const ONE = 'must be one expression';

/** Reads the table with the rights of readers. */
async function findRightFaults(engine: Engine, source: Source, external: ExternalTable): Promise<Fault[]> {
  try {
    const sql = `SELECT * FROM (${selectExternal(source, external)}) LIMIT 0`;
    await engine.query(sql, {}, { format: 'TSVRaw' });
    return [];
  } catch (error) {
    if (error instanceof TailraceError && error.code !== 'query_failed') throw error;
    return [fault(source, external.line, `"from" cannot be read by readers: ${engineMessage(error)}`)];
  }
}

const TEXT = { type: /^(?:String|FixedString\(\d+\)|Enum(?:8|16)\(.*\)|UUID)$/, name: 'a text' };

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
    return `must not be null, and is ${type}: say what stands for null, as in ifNull(…, '')`;
  return undefined;
}

function at(source: Source, { name, line }: Expression, message: string): Fault {
  return fault(source, line, `"${name}" ${message}`);
}

function fault({ file }: Source, line: number, message: string): Fault {
  return { file, line, message };
}
