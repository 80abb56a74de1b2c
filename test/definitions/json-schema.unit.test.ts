import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { FILE_SCHEMAS } from '../../scripts/docs/file-schemas.ts';
import { testShapeFaults } from '../../src/cli/testing/test-file.ts';
import { checkAlert, checkAlertShape } from '../../src/definitions/alert.ts';
import { checkParameters } from '../../src/definitions/checks/parameters.ts';
import { checkCaching, checkSandboxing } from '../../src/definitions/checks/settings.ts';
import { checkSourceColumns } from '../../src/definitions/checks/source.ts';
import { checkDashboard, checkDashboardShape } from '../../src/definitions/dashboard.ts';
import { checkEndpointShape } from '../../src/definitions/endpoint.ts';
import type { Fault } from '../../src/definitions/fault.ts';
import { checkSourceShape } from '../../src/definitions/source-file.ts';
import { parseYaml, type YamlFile } from '../../src/definitions/yaml-file.ts';

type Kind = keyof typeof FILE_SCHEMAS;

interface Checks {
  readonly files: readonly string[];
  /** Unknown, missing and wrong fields. */
  readonly shape: (file: YamlFile) => Fault[];
  /** What else the reader checks in one file, of those without faults of shape. */
  readonly others: (file: YamlFile) => Fault[];
}

const CHECKS: Readonly<Record<Kind, Checks>> = {
  endpoint: {
    files: globSync('{endpoints,studio/endpoints,template/endpoints}/*/endpoint.yaml'),
    shape: checkEndpointShape,
    others: (file) => [
      ...checkParameters(file),
      ...checkCaching(file),
      ...checkSandboxing(file, { text: 'WITH a AS (SELECT 1) SELECT 1' }),
    ],
  },
  source: {
    files: globSync(['sources/*.yaml', 'studio/sources/*.yaml', 'template/sources/*.yaml']),
    shape: checkSourceShape,
    others: checkSourceColumns,
  },
  alert: {
    files: globSync('template/alerts/*.yaml'),
    shape: checkAlertShape,
    others: checkAlert,
  },
  dashboard: {
    files: globSync(['dashboards/*.yaml', 'template/dashboards/*.yaml']),
    shape: checkDashboardShape,
    others: checkDashboard,
  },
  test: {
    files: globSync(['{endpoints,studio/endpoints,template/endpoints}/*/tests/*.yaml']),
    shape: testShapeFaults,
    others: (file) => {
      const { cases } = file.value as { cases: { rows?: unknown; error?: unknown }[] };
      return cases.some(({ rows, error }) => (rows === undefined) === (error === undefined))
        ? [file.fault([], 'rows or error')]
        : [];
    },
  },
};

const KINDS = Object.keys(CHECKS) as Kind[]; // its keys are the kinds

/** As an editor compiles it: strictly, from the printed text alone. */
const compile = (kind: Kind) =>
  new Ajv({ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true }).compile(
    JSON.parse(JSON.stringify(FILE_SCHEMAS[kind]())) as object,
  );

function readYaml(path: string, text: string): YamlFile {
  const file = parseYaml(path, text);
  if (Array.isArray(file)) throw new Error(file.map(({ message }) => message).join());
  return file;
}

/** A value as a file has it, without the time to write and parse its text. */
const asFile = (value: unknown): YamlFile => ({
  ...{ file: 'x.yaml', text: '', value },
  fault: (at, message) => ({ file: 'x.yaml', line: 1, message: `${at.join('.')} ${message}` }),
});

const WRONG: readonly unknown[] = [null, 1, -1, 0.5, '', 'x y', true, [], {}, [1], { a: 1 }, 1e9];

/** Copies of a value with one thing changed: a member removed, added or of another value, at every place. */
function* mutate(value: unknown): Generator<unknown> {
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    const rebuild = (others: [string, unknown][]) =>
      Array.isArray(value) ? others.map(([, one]) => one) : Object.fromEntries(others);
    for (const [i, [name, one]] of entries.entries()) {
      yield rebuild(entries.filter((_, at) => at !== i));
      if (!Array.isArray(value)) yield rebuild(entries.with(i, [`${name}s`, one]));
      for (const changed of mutate(one)) yield rebuild(entries.with(i, [name, changed]));
    }
    if (!Array.isArray(value)) yield { ...value, max_length: 5 };
  }
  yield* WRONG;
}

describe.each(KINDS)('the schema of %s', (kind) => {
  const { files, shape, others } = CHECKS[kind];
  const isValid = compile(kind);

  test('accepts every file that ships', () => {
    expect(files.length).toBeGreaterThan(kind === 'test' || kind === 'alert' ? 0 : 3);
    for (const path of files) {
      const { value } = readYaml(path, readFileSync(path, 'utf8'));
      isValid(value);
      expect(isValid.errors ?? [], path).toEqual([]);
    }
  });

  test('refuses each mutation of them that the reader refuses for its shape, and no other than the reader refuses', () => {
    let refused = 0;
    const wrong: string[] = [];
    // The time of a file grows with the square of its size; the schemas have no more kinds of places in a large one.
    const small = files.filter((path) => statSync(path).size < 8_000);
    for (const path of small) {
      const { value } = readYaml(path, readFileSync(path, 'utf8'));
      for (const changed of mutate(value)) {
        const file = asFile(changed);
        const faults = shape(file);
        const valid = isValid(file.value);
        if (faults.length > 0) refused++;
        const isMissed = faults.length > 0 && valid;
        const isTooStrict = faults.length === 0 && !valid && others(file).length === 0;
        if (isMissed || isTooStrict)
          wrong.push(`${path}: ${isMissed ? 'missed' : 'too strict'}: ${JSON.stringify(changed)}`);
      }
    }
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(refused).toBeGreaterThan(100);
  });
});

test.each(KINDS)('files of %s that init writes name the schema of the package', (kind) => {
  const path = CHECKS[kind].files.find((one) => one.startsWith('template/')) ?? '';
  const [, named = ''] = /^# yaml-language-server: \$schema=(\S+)$/m.exec(readFileSync(path, 'utf8')) ?? [];
  const target = join(dirname(relative('template', path)), named);
  expect(target).toBe(`node_modules/tailrace/schema/${kind}.json`);
  expect(JSON.parse(readFileSync(`schema/${kind}.json`, 'utf8'))).toEqual(FILE_SCHEMAS[kind]());
});
