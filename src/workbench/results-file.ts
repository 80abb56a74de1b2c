import { Document, isSeq, parseDocument, YAMLMap, YAMLSeq } from 'yaml';
import { messageOf, TailraceError } from '../errors.ts';
import type { RawParameters } from '../query/parameters.ts';

/** Columns by name. Integers beyond 2^53 are BigInts. */
export type Row = Readonly<Record<string, unknown>>;

/** A case as `tailrace test` reads it. */
export interface Case {
  readonly name: string;
  readonly now: string;
  readonly parameters: RawParameters;
  readonly rows: readonly Row[];
}

/** In the folder of the endpoint. */
export const RESULTS_FILE = 'tests/results.yaml';
const FILE_CHARS_MAX = 1024 * 1024;
const CASES_MAX = 1_000; // as `tailrace test` reads
const COMMENT = ` Results that were kept in the workbench. Write into "events" those that the rows come from,
 else the rows of an empty store are expected.`;

/** Returns the file with one more case; its comments stay. @throws TailraceError `conflict` if it is not a file of tests, or is full */
export function withCase(text: string | undefined, added: Case): string {
  const document = text === undefined ? newFile(added) : parseDocument(text, { intAsBigInt: true });
  const [fault] = document.errors;
  if (fault !== undefined) throw broken(messageOf(fault));
  const cases = document.get('cases');
  if (!isSeq(cases)) throw broken('"cases" is missing');
  if (cases.items.length >= CASES_MAX) throw broken(`it has ${CASES_MAX} cases`);
  cases.flow = false;
  cases.add(toNode(document, added));
  const written = document.toString({ lineWidth: 0 });
  if (written.length > FILE_CHARS_MAX) throw broken('it would be larger than 1 MiB');
  return written;
}

function newFile({ now }: Case): Document {
  const document = new Document({ now, events: {}, cases: [] });
  document.commentBefore = COMMENT;
  return document;
}

/** Writes a line for each row. */
function toNode(document: Document, { name, now, parameters, rows }: Case): YAMLMap {
  const node = new YAMLMap();
  const list = new YAMLSeq();
  for (const row of rows) list.add(document.createNode(row, { flow: true }));
  list.flow = rows.length === 0;
  node.add(document.createPair('name', name));
  node.add(document.createPair('now', now));
  node.add(document.createPair('parameters', document.createNode(parameters, { flow: true })));
  node.add(document.createPair('rows', list));
  return node;
}

function broken(why: string): TailraceError {
  return new TailraceError('conflict', `${RESULTS_FILE} cannot be added to: ${why}; edit or move the file`);
}
