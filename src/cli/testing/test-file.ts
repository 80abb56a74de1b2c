import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Static, Type } from 'typebox';
import { parseDocument } from 'yaml';
import type { Endpoint } from '../../definitions/endpoint.ts';
import { createShapeCheck } from '../../definitions/shape.ts';
import { readYamlFile, YAML_OPTIONS, type YamlFile, type YamlPath } from '../../definitions/yaml-file.ts';
import { type Fault, InputError } from '../../errors.ts';
import { EARLIEST_MICROS, LATEST_MICROS, MICROS_PER_MS, parseInstant } from '../../lib/instant.ts';
import { closed, listOf } from '../../lib/schema.ts';
import {
  ANY_MAP,
  CASE,
  type CaseFields,
  checkCase,
  continueCase,
  INSTANT,
  type KnownAlerts,
  nameCase,
  type Row,
  type TestCase,
} from './test-case.ts';

/** A file of `endpoints/<folder>/tests/`, without faults. */
export interface TestFile {
  readonly file: string;
  readonly endpoint: Endpoint;
  readonly yaml: YamlFile;
  /** The instant at which its events arrive, ms since the epoch. */
  readonly nowMs: number;
  /** A list of events, or the name of a file with them, by source. Not checked yet. */
  readonly events: Row;
  readonly cases: readonly TestCase[];
}

const CASES_MAX = 1_000;

export const TEST_FILE = closed({
  now: INSTANT,
  events: Type.Optional(ANY_MAP('a map of sources')),
  cases: listOf(CASE, [1, CASES_MAX], 'cases'),
});

type FileFields = Static<typeof TEST_FILE>;

/** Finds faults of shape: unknown, missing or wrong fields. */
const testShapeFaults = createShapeCheck(TEST_FILE);

/**
 * Lists the paths of an endpoint's test files, in order; empty if it has none.
 *
 * @throws InputError if their folder cannot be read
 */
export async function findTestFiles({ file }: Endpoint): Promise<string[]> {
  const folder = join(dirname(file), 'tests');
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new InputError([`${folder} cannot be read as a folder: ${error.message}`], { cause: error });
  });
  const tests = names.filter((name) => /\.ya?ml$/.test(name) && !name.startsWith('.'));
  return tests.toSorted().map((name) => join(folder, name));
}

/** Reads a test file, or returns every fault in it. */
export async function readTestFile(
  path: string,
  endpoint: Endpoint,
  alerts: KnownAlerts,
): Promise<TestFile | Fault[]> {
  const yaml = await readYamlFile(path);
  if (Array.isArray(yaml)) return yaml;
  const shape = testShapeFaults(yaml);
  if (shape.length > 0) return shape;
  const fields = readExact(yaml);
  const faults: Fault[] = [];
  const report = (at: YamlPath, message: string) => faults.push(yaml.fault(at, message));
  const nowMs = readNow(fields.now, (message) => report(['now'], message));
  let before: CaseFields | undefined;
  const cases = fields.cases.map((own, i) => {
    const one = continueCase(own, before);
    const reportCase = (at: YamlPath, message: string) => report(['cases', i, ...at], message);
    checkCase(one, { endpoint, alerts, before, report: reportCase });
    before = one;
    return {
      ...one,
      name: nameCase(one),
      line: yaml.fault(['cases', i], '').line,
      nowMs: one.now === undefined ? nowMs : readNow(one.now, (message) => reportCase(['now'], message)),
    };
  });
  if (faults.length > 0) return faults;
  return { file: path, endpoint, yaml, nowMs, events: fields.events ?? {}, cases };
}

/**
 * Returns the fields of a file that passed `testShapeFaults`, with integers beyond 2^53 as BigInts: they would be
 * rounded.
 */
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
