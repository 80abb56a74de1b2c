import { mkdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { type Static, Type } from 'typebox';
import { Document, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { ENDPOINT_NAME, type Endpoint } from '../definitions/endpoint.ts';
import { InputError, messageOf, TailraceError } from '../errors.ts';
import type { Caller } from '../keys/keyring.ts';
import { createLock } from '../lib/abort.ts';
import { findBelow } from '../lib/file.ts';
import { EARLIEST_MICROS, LATEST_MICROS, MICROS_PER_MS, parseInstant } from '../lib/instant.ts';
import { parseExactJson } from '../lib/json.ts';
import { closed, shortText } from '../lib/schema.ts';
import type { SavedEndpoint, SavedTest } from '../management/workbench-view.ts';
import type { RawParameters } from '../query/parameters.ts';
import type { ExecutionOptions } from './check.ts';
import { VALUES } from './draft.ts';
import { conflict, readIfThere, rejectLinks, replaceFiles, toSaveError } from './files.ts';
import { auditSaved, type SaveParts, type TestRun } from './save.ts';
import { inFolder, rejectIfOff, type WorkbenchParts } from './workbench.ts';

export type AddTestParts = Pick<SaveParts, 'config' | 'folders' | 'registry' | 'edit' | 'audit' | 'runTests'>;

/** `now`: `@now` of the run that returned the rows. */
export const NEW_TEST = closed({
  name: ENDPOINT_NAME,
  title: shortText(200, { expected: 'a string of one line, of at most 200 characters' }),
  now: Type.String({ expected: 'an ISO 8601 timestamp, such as 2026-11-20T12:00:00Z' }),
  values: VALUES,
  rows: Type.String({ expected: 'the rows as a string of JSON' }),
});

/** Nobody reads a longer test. */
const ROWS_MAX = 20;
const ROWS_BYTES_MAX = 64 * 1024;
/** The writer of YAML calls itself for each level: thousands would end the stack. */
const DEPTH_MAX = 64;

/**
 * Adds the result of a run to the tests of a served endpoint, and runs these.
 * @throws TailraceError `forbidden`, `endpoint_not_found`, `invalid_request`, `conflict`: then nothing has changed
 */
export async function addTest(
  parts: AddTestParts,
  request: Static<typeof NEW_TEST>,
  { caller, execution }: { readonly caller: Caller; readonly execution: ExecutionOptions },
): Promise<SavedTest> {
  rejectIfOff('endpoints', parts);
  const endpoint = parts.registry.getEndpoint(request.name);
  const { name } = endpoint;
  // Control characters would be printed. Not in the schema: without the flag `u` the pattern means something else to
  // readers of /openapi.json.
  if (!/^\P{C}+$/u.test(request.title)) throw invalid('"title" must be a string of one line');
  const rows = readRows(request.rows, endpoint);
  const known = endpoint.parameters.map((parameter) => parameter.name);
  const unknown = Object.keys(request.values).find((one) => !known.includes(one));
  if (unknown !== undefined)
    throw conflict(
      `the saved ${name} has no parameter ${JSON.stringify(unknown)}; save it, then run it again`,
    );
  const added = { name: request.title, now: readNow(request.now), parameters: request.values, rows };
  await parts.edit(() => writeCase(parts, endpoint, added));
  await auditSaved(parts, caller, `test ${name} ${request.title}`);
  return { file: RESULTS_FILE, tests: await parts.runTests(name, execution) };
}

/** Returns an instant as tests have it, to the millisecond. */
function readNow(text: string): string {
  const micros = parseInstant(text);
  if (micros === undefined || micros === EARLIEST_MICROS || micros === LATEST_MICROS)
    throw invalid(
      '"now" must be an ISO 8601 timestamp of 1900 to 2255, such as 2026-11-20T12:00:00Z, not ' +
        `${JSON.stringify(text.slice(0, 60))}`,
    );
  return new Date(Math.floor(micros / MICROS_PER_MS)).toISOString();
}

function readRows(text: string, { columns }: Endpoint): readonly Row[] {
  if (Buffer.byteLength(text) > ROWS_BYTES_MAX)
    throw invalid(`the rows have more than ${ROWS_BYTES_MAX / 1024} KiB; run the query for less`);
  const rows = parseRows(text);
  if (rows.length > ROWS_MAX)
    throw invalid(`the result has ${rows.length} rows, a test at most ${ROWS_MAX}; run the query for less`);
  const declared = columns.map((column) => column.name).toSorted();
  const differs = rows.some((row) => Object.keys(row).toSorted().join('\n') !== declared.join('\n'));
  if (!differs) return rows;
  const list = declared.join(', ');
  throw conflict(`the result has other columns than the saved endpoint: ${list}; save it, then run it again`);
}

function parseRows(text: string): readonly Row[] {
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {} // rejected below
  const isRow = (one: unknown) => typeof one === 'object' && one !== null && !Array.isArray(one);
  if (isDeep(value, DEPTH_MAX))
    throw invalid(`the rows have more than ${DEPTH_MAX} levels of lists and objects; leave out the column`);
  if (Array.isArray(value) && value.every(isRow)) return value as Row[]; // as just checked
  throw invalid('"rows" is not a JSON list of objects; send the rows as a run returns them');
}

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeep(one, levels - 1));
}

const invalid = (message: string) => new TailraceError('invalid_request', message);

async function writeCase(
  parts: Pick<AddTestParts, 'config' | 'folders'>,
  { name, file }: Endpoint,
  added: Case,
): Promise<void> {
  rejectIfOff('endpoints', parts); // a reload may have changed the folders
  try {
    const path = await findBelow(parts.folders().endpointsDir, `${basename(dirname(file))}/${RESULTS_FILE}`);
    await mkdir(dirname(path), { recursive: true });
    await rejectLinks(name, [path]);
    const text = withCase(await readIfThere(path), added);
    await replaceFiles([[path, text]]);
  } catch (error) {
    throw toSaveError(error, name);
  }
}

/** Columns by name. Integers beyond 2^53 are BigInts. */
type Row = Readonly<Record<string, unknown>>;

/** A case as `tailrace test` reads it. */
interface Case {
  readonly name: string;
  readonly now: string;
  readonly parameters: RawParameters;
  readonly rows: readonly Row[];
}

/** In the folder of the endpoint. */
const RESULTS_FILE = 'tests/results.yaml';
const FILE_CHARS_MAX = 1024 * 1024;
const CASES_MAX = 1_000; // as `tailrace test` reads
const COMMENT = ` Results that were kept in the workbench. Write into "events" those that the rows come from,
 else the rows of an empty store are expected.`;

/**
 * Returns the file with one more case; its comments stay.
 * @throws TailraceError `conflict` if it is not a file of tests, or is full
 */
function withCase(text: string | undefined, added: Case): string {
  const document =
    text === undefined
      ? new Document({ now: added.now, events: {}, cases: [] })
      : parseDocument(text, { intAsBigInt: true });
  if (text === undefined) document.commentBefore = COMMENT;
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

/** Writes a line for each row. */
function toNode(document: Document, { parameters, rows, ...named }: Case): YAMLMap {
  const inOneLine = (value: unknown) => document.createNode(value, { flow: true });
  const node = document.createNode({ ...named, parameters: null, rows: [] }) as YAMLMap; // of an object
  node.set('parameters', inOneLine(parameters));
  if (rows.length > 0) node.set('rows', document.createNode(rows.map(inOneLine)));
  return node;
}

const broken = (why: string) => conflict(`${RESULTS_FILE} cannot be added to: ${why}; edit or move the file`);

/** Runs the tests of one endpoint, as its files are now. @throws InputError for faults of test files; the signal's reason */
export type RunTests = (name: string, signal: AbortSignal) => Promise<SavedEndpoint['tests']>;

const TESTS_MS_MAX = 60_000;

/** Returns a function that runs the tests of one endpoint after another. */
export function createTestRun(runTests: RunTests, folders: Pick<WorkbenchParts, 'folders'>): TestRun {
  const acquire = createLock();
  return async (name, { signal }) => {
    const late = AbortSignal.timeout(TESTS_MS_MAX);
    const until = signal === undefined ? late : AbortSignal.any([signal, late]);
    try {
      const release = await acquire(until);
      return await runTests(name, until).finally(release);
    } catch (error) {
      signal?.throwIfAborted();
      const message = inFolder(describeTestFailure(error, late), folders);
      return [{ name: 'tests', passed: false, message }];
    }
  };
}

function describeTestFailure(error: unknown, late: AbortSignal): string {
  if (error instanceof InputError) return error.faults.join('\n');
  if (late.aborted) return `the tests did not end within ${TESTS_MS_MAX / 1000} s and were stopped`;
  return 'the tests could not be run; the files are saved, and "tailrace test" runs them';
}
