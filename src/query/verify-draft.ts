import type { Fault } from '../definitions/fault.ts';
import type { SqlFile } from '../definitions/read.ts';
import type { Engine } from '../engine/engine.ts';
import { messageOf } from '../errors.ts';
import { createRewriter, findParameters } from '../sql/parameter.ts';
import { quote } from '../sql/quote.ts';
import { SyntaxTreeError } from './syntax-tree.ts';
import { engineMessage, findLine, findUnfitAnywhere } from './verify.ts';

/**
 * Has the engine check queries with a faulty endpoint.yaml, so that one check reports both. Types of parameters and columns are
 * unknown here: only faults that no change of the YAML can fix are reported.
 *
 * @param hasTables whether the tables of every source exist; without them only the syntax is checked
 */
export async function verifyDrafts(
  engine: Engine,
  drafts: readonly SqlFile[],
  hasTables: boolean,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const draft of drafts) {
    const fault = (await verifySyntax(engine, draft)) ?? (hasTables && (await verifyNames(engine, draft)));
    if (fault) faults.push(fault);
  }
  return faults;
}

async function verifySyntax(engine: Engine, draft: SqlFile): Promise<Fault | undefined> {
  try {
    const message = await findUnfitAnywhere(engine, withText(draft, STAND_INS[0]));
    return message === undefined ? undefined : { file: draft.file, line: 1, message };
  } catch (error) {
    if (error instanceof SyntaxTreeError) return { file: draft.file, line: 1, message: error.message };
    return toFault(draft, error);
  }
}

// A function may need a number or an instant. If none of these texts suits, the type is at fault, which is not reported here.
const STAND_INS = ['1', '2026-01-01 00:00:00', 'x'] as const;
// A missing table, column or function: no value of a parameter can fix it.
const UNKNOWN_NAME = /\((?:UNKNOWN_TABLE|UNKNOWN_IDENTIFIER|UNKNOWN_FUNCTION)\)|Code: (?:60|47|46)\./;

async function verifyNames(engine: Engine, draft: SqlFile): Promise<Fault | undefined> {
  const texts = findParameters(draft.text).length === 0 ? [STAND_INS[0]] : STAND_INS;
  for (const text of texts) {
    try {
      await engine.inspect(`DESCRIBE TABLE (${withText(draft, text)}\n)`);
      return undefined;
    } catch (error) {
      if (UNKNOWN_NAME.test(messageOf(error))) return toFault(draft, error);
    }
  }
  return undefined;
}

/** The query with the same text for every parameter. */
function withText(draft: SqlFile, text: string): string {
  return createRewriter(draft.text)(() => quote(text));
}

function toFault({ file, text }: SqlFile, error: unknown): Fault {
  const message = engineMessage(error);
  return { file, line: findLine(message, text), message };
}
