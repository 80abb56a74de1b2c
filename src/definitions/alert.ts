import { type Static, Type } from 'typebox';
import type { Fault } from '../errors.ts';
import { ENDPOINT_NAME } from './endpoint.ts';
import { createShapeCheck, wholeNumber } from './shape.ts';
import { UUID_TEXT } from './source-file.ts';
import { checkUnique, readYamlFolder, type YamlFile } from './yaml-file.ts';

/** A saved query that is evaluated at intervals, and calls somebody while its condition holds. Times are in ms. */
export interface Alert {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Name or UUID. */
  readonly endpoint: string;
  /** Texts as in a query string. */
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
  readonly everyMs: number;
  /** `@now` of an evaluation is its tick less this. */
  readonly delayMs: number;
  readonly when: AlertCondition;
  /** Columns; each set of their values is an instance. Empty: the whole answer is one. */
  readonly per: readonly string[];
  readonly forMs: number;
  readonly keepFiringForMs: number;
  readonly noData: 'ok' | 'alert' | 'keep';
  readonly onError: 'keep' | 'alert';
  readonly severity: Severity;
  /** `{{ column }}` stands for its value. */
  readonly text: string;
  /** Address of what to do, for those who are called. */
  readonly runbook: string | undefined;
  /** Names of receivers. */
  readonly to: readonly string[];
  /** `undefined`: a firing alert is sent once. */
  readonly repeatMs: number | undefined;
  readonly file: string;
  readonly fault: YamlFile['fault'];
}

/** When a row counts: always, or by the value of a column. */
export type AlertCondition =
  | { readonly kind: 'rows' }
  | {
      readonly kind: 'above' | 'below' | 'equals';
      readonly column: string;
      readonly value: string | number | boolean;
    };

export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Names in every text, besides the columns; `count`: of the instances in a message. */
export const SERVICE_VARIABLES = ['alert', 'severity', 'count'] as const;

const MAP = { additionalProperties: false, expected: 'a map of fields' };
const COLUMN = Type.String({ minLength: 1, expected: 'the name of a column; put it in quotes' });
const SCALAR = Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
  expected: 'a string, a number, true or false',
});
const SECONDS_MAX = 7 * 86_400;
const EVERY = wholeNumber(SECONDS_MAX, 'of seconds ');
const DURATION = Type.Integer({
  minimum: 0,
  maximum: SECONDS_MAX,
  expected: `a whole number of seconds from 0 to ${SECONDS_MAX}`,
});
const COMPARISONS = ['above', 'below', 'equals'] as const;
const WHEN = '"rows", or a map with "column" and one of "above", "below" and "equals"';
const PER_MAX = 8;
const RECEIVERS_MAX = 20;
const TEXT_CHARS_MAX = 4_000;
const URL_CHARS_MAX = 2_000;
const PARAMETER_VALUES_MAX = 1_000;

/** The name of a receiver in the operator's file. */
export const RECEIVER_NAME = {
  pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$',
  expected: 'the name of a receiver: letters, digits, ., - and _, at most 63 characters',
};

export const ALERT_FILE = Type.Object(
  {
    id: UUID_TEXT,
    name: ENDPOINT_NAME,
    description: Type.String({ expected: 'a string' }),
    endpoint: Type.String({ minLength: 1, expected: 'the name or UUID of an endpoint' }),
    parameters: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Union([SCALAR, Type.Array(SCALAR, { maxItems: PARAMETER_VALUES_MAX })], {
          expected: 'the value of a parameter, or a list of values',
        }),
        { expected: 'a map of parameters' },
      ),
    ),
    every: EVERY,
    delay: Type.Optional(DURATION),
    when: Type.Union(
      [
        Type.Literal('rows'),
        Type.Object(
          {
            column: COLUMN,
            above: Type.Optional(Type.Number({ expected: 'a number' })),
            below: Type.Optional(Type.Number({ expected: 'a number' })),
            equals: Type.Optional(SCALAR),
          },
          MAP,
        ),
      ],
      { expected: WHEN },
    ),
    per: Type.Optional(
      Type.Array(COLUMN, {
        minItems: 1,
        maxItems: PER_MAX,
        uniqueItems: true,
        expected: `a list of 1 to ${PER_MAX} different columns`,
      }),
    ),
    for: Type.Optional(DURATION),
    keep_firing_for: Type.Optional(DURATION),
    no_data: Type.Optional(Type.Enum(['ok', 'alert', 'keep'], { expected: 'one of ok, alert, keep' })),
    on_error: Type.Optional(Type.Enum(['keep', 'alert'], { expected: 'one of keep, alert' })),
    severity: Type.Optional(Type.Enum([...SEVERITIES], { expected: `one of ${SEVERITIES.join(', ')}` })),
    text: Type.String({
      minLength: 1,
      maxLength: TEXT_CHARS_MAX,
      expected: `a string of 1 to ${TEXT_CHARS_MAX} characters`,
    }),
    runbook: Type.Optional(
      Type.String({ pattern: '^https?://', maxLength: URL_CHARS_MAX, expected: 'an http or https URL' }),
    ),
    to: Type.Array(Type.String(RECEIVER_NAME), {
      minItems: 1,
      maxItems: RECEIVERS_MAX,
      uniqueItems: true,
      expected: `a list of 1 to ${RECEIVERS_MAX} different receivers`,
    }),
    repeat: Type.Optional(EVERY),
  },
  MAP,
);

type AlertFile = Static<typeof ALERT_FILE>;

/** Finds faults of shape: unknown, missing or wrong fields. */
const checkAlertShape = createShapeCheck(ALERT_FILE);

/** Finds the faults of a file that need neither endpoints nor receivers. */
export function checkAlert(file: YamlFile): Fault[] {
  const shape = checkAlertShape(file);
  if (shape.length > 0) return shape;
  const { when, no_data: noData } = alertFields(file);
  if (when === 'rows') {
    const message = 'with "when: rows" the alert would always hold: rows or none; remove "no_data: alert"';
    return noData === 'alert' ? [file.fault(['no_data'], message)] : [];
  }
  const given = COMPARISONS.filter((name) => when[name] !== undefined);
  return given.length === 1 ? [] : [file.fault(['when'], `"when" must be ${WHEN}`)];
}

function alertFields(file: YamlFile): AlertFile {
  return file.value as AlertFile; // checkAlert has called checkAlertShape
}

/** Creates the alert of a file in which `checkAlert` found no fault. */
export function createAlert(file: YamlFile): Alert {
  const fields = alertFields(file);
  const { repeat } = fields;
  const parameters = Object.entries(fields.parameters ?? {});
  return {
    id: fields.id.toLowerCase(),
    name: fields.name,
    description: fields.description,
    endpoint: fields.endpoint,
    parameters: Object.fromEntries(parameters.map(([name, value]) => [name, toTexts(value)])),
    everyMs: fields.every * 1000,
    delayMs: (fields.delay ?? 0) * 1000,
    when: toCondition(fields.when),
    per: fields.per ?? [],
    forMs: (fields.for ?? 0) * 1000,
    keepFiringForMs: (fields.keep_firing_for ?? 0) * 1000,
    noData: fields.no_data ?? 'ok',
    onError: fields.on_error ?? 'keep',
    severity: fields.severity ?? 'warning',
    text: fields.text,
    runbook: fields.runbook,
    to: fields.to,
    repeatMs: repeat === undefined ? undefined : repeat * 1000,
    file: file.file,
    fault: file.fault,
  };
}

type Scalar = string | number | boolean;

function toTexts(value: Scalar | readonly Scalar[]): string | readonly string[] {
  return typeof value === 'object' ? value.map(String) : String(value);
}

function toCondition(when: AlertFile['when']): AlertCondition {
  if (when === 'rows') return { kind: 'rows' };
  for (const kind of COMPARISONS) {
    const value = when[kind];
    if (value !== undefined) return { kind, column: when.column, value };
  }
  throw new Error('checkAlert has found a comparison');
}

/**
 * Reads the alerts of a folder. Adds every fault that needs neither endpoints nor receivers.
 *
 * @param dir `undefined`: there are none
 */
export async function readAlerts(dir: string | undefined, faults: Fault[]): Promise<Alert[]> {
  if (dir === undefined) return [];
  const files = await readYamlFolder(dir, faults);
  faults.push(...checkUnique(files, ['id', 'name']));
  return files.flatMap((file) => {
    const own = checkAlert(file);
    faults.push(...own);
    return own.length === 0 ? [createAlert(file)] : [];
  });
}
