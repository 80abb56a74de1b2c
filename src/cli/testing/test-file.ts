import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Static, Type } from 'typebox';
import { parseDocument } from 'yaml';
import type { Endpoint } from '../../definitions/endpoint.ts';
import type { Fault } from '../../definitions/fault.ts';
import { type JsonSchema, toJsonSchema, withHead } from '../../definitions/json-schema.ts';
import { SQL_PARAMETER } from '../../definitions/parameter.ts';
import { createShapeCheck } from '../../definitions/shape.ts';
import { readYamlFile, YAML_OPTIONS, type YamlFile, type YamlPath } from '../../definitions/yaml-file.ts';
import { ERROR_CODES, InputError } from '../../errors.ts';
import { EARLIEST_MICROS, LATEST_MICROS, MICROS_PER_MS, parseInstant } from '../../lib/instant.ts';

/** Columns or members by name. Integers beyond 2^53 are BigInts. */
export type Row = Readonly<Record<string, unknown>>;

/** The error of a request. */
export interface ExpectedError {
  readonly code: string;
  readonly parameter?: string;
}

/** What a case expects: one of the two, or neither yet. */
export interface Expectation {
  readonly rows?: readonly Row[];
  readonly error?: ExpectedError;
}

/** One request and its answer. */
export interface TestCase extends Expectation {
  readonly name: string;
  readonly line: number;
  /** The instant of its query, ms since the epoch. */
  readonly nowMs: number;
  /** As in the JSON body of a POST. */
  readonly parameters: Row;
  /** How far a number of a column may be from the expected one, as a share of the larger one; 0: exact. */
  readonly toleranceOf: (column: string) => number;
}

/** A file of `endpoints/<folder>/tests/`, without faults. */
export interface TestFile {
  readonly file: string;
  readonly endpoint: Endpoint;
  readonly yaml: YamlFile;
  /** The instant at which its events arrive, ms since the epoch. */
  readonly nowMs: number;
  /** By source: a list of events, or the name of a file with them. Not checked yet. */
  readonly events: Row;
  readonly cases: readonly TestCase[];
}

const MAP = { additionalProperties: false, expected: 'a map of fields' };
const INSTANT = Type.String({ expected: 'an ISO 8601 timestamp, such as 2026-11-20T12:00:00Z' });
const ANY_MAP = (expected: string) => Type.Record(Type.String(), Type.Unknown(), { expected });
const SHARE = Type.Number({ exclusiveMinimum: 0, maximum: 1, expected: 'a share above 0, at most 1' });
const CODES = Object.keys(ERROR_CODES);
const NAME_CHARS_MAX = 200;
const CASES_MAX = 1_000;

const TEST_FILE = Type.Object(
  {
    now: INSTANT,
    events: Type.Optional(ANY_MAP('a map of sources')),
    cases: Type.Array(
      Type.Object(
        {
          name: Type.Optional(
            Type.String({
              pattern: '^\\P{C}+$', // no control characters: it is printed
              maxLength: NAME_CHARS_MAX,
              expected: `a text of one line, of at most ${NAME_CHARS_MAX} characters`,
            }),
          ),
          now: Type.Optional(INSTANT),
          parameters: Type.Optional(ANY_MAP('a map of parameters')),
          approximately: Type.Optional(
            Type.Union([SHARE, Type.Record(Type.String(), SHARE)], {
              expected:
                'the share by which numbers may differ, such as 0.01, or a map with one for each column',
            }),
          ),
          rows: Type.Optional(
            Type.Array(ANY_MAP('a row: a map of columns'), { expected: 'a list of rows; [] if none come' }),
          ),
          error: Type.Optional(
            Type.Object(
              {
                code: Type.Enum(CODES, { expected: `an error code: ${CODES.join(', ')}` }),
                parameter: Type.Optional(Type.String({ expected: 'the name of a parameter' })),
              },
              { ...MAP, expected: 'a map with "code" and, if one is wrong, "parameter"' },
            ),
          ),
        },
        { ...MAP, expected: 'a case: a map of fields' },
      ),
      { minItems: 1, maxItems: CASES_MAX, expected: `a list of 1 to ${CASES_MAX} cases` },
    ),
  },
  MAP,
);

type FileFields = Static<typeof TEST_FILE>;
type CaseFields = FileFields['cases'][number];

/** Faults of shape: unknown, missing or wrong fields. */
export const testShapeFaults = createShapeCheck(TEST_FILE);

/** For editors: what a file of tests may have. */
export function testJsonSchema(): JsonSchema {
  return withHead(toJsonSchema(TEST_FILE), { title: 'Tests of an endpoint of Tailrace' });
}

/** The paths of an endpoint's test files, in order; empty if it has none. @throws InputError if their folder cannot be read */
export async function findTestFiles({ file }: Endpoint): Promise<string[]> {
  const folder = join(dirname(file), 'tests');
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new InputError([`${folder} cannot be read as a folder: ${error.message}`], { cause: error });
  });
  const tests = names.filter((name) => /\.ya?ml$/.test(name) && !name.startsWith('.'));
  return tests.toSorted().map((name) => join(folder, name));
}

/**
 * Reads a test file, or returns every fault of it.
 *
 * @param isDraft whether a case may lack `rows` and `error`, because they are about to be written
 */
export async function readTestFile(
  path: string,
  endpoint: Endpoint,
  isDraft: boolean,
): Promise<TestFile | Fault[]> {
  const yaml = await readYamlFile(path);
  if (Array.isArray(yaml)) return yaml;
  const shape = testShapeFaults(yaml);
  if (shape.length > 0) return shape;
  const fields = readExact(yaml);
  const faults: Fault[] = [];
  const report = (at: YamlPath, message: string) => faults.push(yaml.fault(at, message));
  const nowMs = readNow(fields.now, (message) => report(['now'], message));
  const cases = fields.cases.map((one, i) => {
    checkCase(one, { endpoint, isDraft, report: (at, message) => report(['cases', i, ...at], message) });
    return createCase(one, endpoint, {
      nowMs:
        one.now === undefined ? nowMs : readNow(one.now, (message) => report(['cases', i, 'now'], message)),
      line: yaml.fault(['cases', i], '').line,
    });
  });
  if (faults.length > 0) return faults;
  return { file: path, endpoint, yaml, nowMs, events: fields.events ?? {}, cases };
}

/** The fields of a file that passed `testShapeFaults`, with integers beyond 2^53 as BigInts: they would be rounded. */
function readExact({ text }: YamlFile): FileFields {
  const exact = parseDocument(text, { ...YAML_OPTIONS, intAsBigInt: true }).toJS({
    reviver: (_: unknown, value: unknown) =>
      typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value,
  });
  return exact as FileFields; // the same document, which has passed
}

function readNow(text: string, report: (message: string) => void): number {
  const micros = parseInstant(text);
  if (micros === undefined)
    report(
      `"now" must be an ISO 8601 timestamp, such as 2026-11-20T12:00:00Z, not ${JSON.stringify(text.slice(0, 60))}`,
    );
  else if (micros === EARLIEST_MICROS || micros === LATEST_MICROS)
    report('"now" must be after the first day of 1900 and before June 2255');
  else if (micros % MICROS_PER_MS !== 0) report('"now" must be a whole number of milliseconds');
  return (micros ?? 0) / MICROS_PER_MS;
}

interface CaseCheck {
  readonly endpoint: Endpoint;
  readonly isDraft: boolean;
  readonly report: (at: YamlPath, message: string) => void;
}

function checkCase(fields: CaseFields, { endpoint, isDraft, report }: CaseCheck): void {
  const { parameters = {}, approximately, rows, error } = fields;
  if (rows !== undefined && error !== undefined)
    report(['error'], 'a case expects "rows" or an "error", not both');
  if (rows === undefined && error === undefined && !isDraft)
    report([], '"rows" or "error" is missing; write it, or let "tailrace test --update" do so');
  if (approximately !== undefined && error !== undefined)
    report(['approximately'], '"approximately" needs "rows"');
  const known = endpoint.parameters.map(({ name }) => name);
  if (endpoint.sandboxing) known.push(SQL_PARAMETER);
  for (const name of Object.keys(parameters))
    if (!known.includes(name))
      report(['parameters', name], `${endpoint.name} has no parameter "${name}"; it has ${known.join(', ')}`);
  const columns = endpoint.columns.map(({ name }) => name);
  for (const name of typeof approximately === 'object' ? Object.keys(approximately) : [])
    if (!columns.includes(name))
      report(
        ['approximately', name],
        `${endpoint.name} has no column "${name}"; it has ${columns.join(', ')}`,
      );
}

function createCase(
  { name, parameters = {}, approximately = 0, rows, error }: CaseFields,
  endpoint: Endpoint,
  place: Pick<TestCase, 'nowMs' | 'line'>,
): TestCase {
  // Integers are counts and times, of which a share means nothing, unless the file says so of a column.
  const numbers = new Set(endpoint.columns.flatMap((one) => (one.type === 'number' ? [one.name] : [])));
  return {
    ...place,
    name: name ?? nameOf(parameters),
    parameters,
    toleranceOf: (column) =>
      typeof approximately === 'object'
        ? (approximately[column] ?? 0)
        : numbers.has(column)
          ? approximately
          : 0,
    ...(rows !== undefined && { rows }),
    ...(error !== undefined && { error }),
  };
}

function nameOf(parameters: Row): string {
  const texts = Object.entries(parameters).map(([name, value]) => `${name}=${toText(value)}`);
  return texts.length === 0
    ? 'without parameters'
    : texts.join(' ').replaceAll(/\p{C}/gu, ' ').slice(0, NAME_CHARS_MAX);
}

function toText(value: unknown): string {
  return Array.isArray(value) ? value.map(toText).join(',') : String(value);
}
