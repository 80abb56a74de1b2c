import { type Static, Type } from 'typebox';
import { closed, listOf, oneOf, optional, shortText, wholeNumber } from '../lib/schema.ts';
import { COLUMN_NAME } from './chart.ts';
import { ENDPOINT_NAME } from './endpoint.ts';
import { createFileKind, type Defined } from './file-kind.ts';
import { CALL_VALUES, SCALAR, toCallTexts } from './parameter-type.ts';
import { UUID_TEXT } from './source-file.ts';
import type { FieldFaults } from './yaml-file.ts';

/** When a row counts: always, or by the value of a column. */
export type AlertCondition = ReturnType<typeof toCondition>;

export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Names in every text, besides the columns; `count`: of the instances in a message. */
export const SERVICE_VARIABLES = ['alert', 'severity', 'count'] as const;

const SECONDS_MAX = 7 * 86_400;
const EVERY = wholeNumber(SECONDS_MAX, 'seconds');
const DURATION = Type.Integer({ minimum: 0, maximum: SECONDS_MAX, unit: 'seconds' });
const COMPARISONS = ['above', 'below', 'equals'] as const;
const WHEN = '"rows", or a map with "column" and one of "above", "below" and "equals"';

/** The name of a receiver in the operator's file. */
export const RECEIVER_NAME = {
  pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$',
  expected: 'the name of a receiver: letters, digits, ., - and _, at most 63 characters',
};

export const ALERT_FILE = closed({
  id: UUID_TEXT,
  name: ENDPOINT_NAME,
  description: Type.String(),
  endpoint: Type.String({ minLength: 1, expected: 'the name or UUID of an endpoint' }),
  parameters: Type.Optional(CALL_VALUES),
  every: EVERY,
  delay: Type.Optional(DURATION),
  when: Type.Union(
    [
      Type.Literal('rows'),
      closed({
        column: COLUMN_NAME,
        ...optional({ above: Type.Number(), below: Type.Number(), equals: SCALAR }),
      }),
    ],
    { expected: WHEN },
  ),
  ...optional({
    per: listOf(COLUMN_NAME, [1, 8], 'different columns'),
    for: DURATION,
    keep_firing_for: DURATION,
    no_data: oneOf(['ok', 'alert', 'keep']),
    on_error: oneOf(['keep', 'alert']),
    severity: oneOf(SEVERITIES),
  }),
  // `{{ column }}` stands for its value.
  text: shortText(4_000),
  runbook: Type.Optional(
    Type.String({ pattern: '^https?://', maxLength: 2_000, expected: 'an http or https URL' }),
  ),
  to: listOf(Type.String(RECEIVER_NAME), [1, 20], 'different receivers'),
  repeat: Type.Optional(EVERY),
});

type AlertFile = Static<typeof ALERT_FILE>;

/** The files of alerts, checked for the faults that need neither endpoints nor receivers. */
export const ALERTS = createFileKind('alert', ALERT_FILE, { find: findFaults, create: createAlert });

/** A saved query that is evaluated at intervals, and calls somebody while its condition holds. Times are in ms. */
export type Alert = Defined<typeof ALERTS>;

function* findFaults({ when, no_data: noData }: AlertFile): FieldFaults {
  if (when === 'rows') {
    const message = 'with "when: rows" the alert would always hold: rows or none; remove "no_data: alert"';
    if (noData === 'alert') yield [['no_data'], message];
  } else if (COMPARISONS.filter((name) => when[name] !== undefined).length !== 1)
    yield [['when'], `"when" must be ${WHEN}`];
}

function createAlert(fields: AlertFile) {
  const { name, description, endpoint, text, runbook, to } = fields;
  return {
    ...{ name, description, endpoint, text, runbook, to },
    parameters: toCallTexts(fields.parameters),
    everyMs: fields.every * 1000,
    /** `@now` of an evaluation is its tick less this. */
    delayMs: (fields.delay ?? 0) * 1000,
    when: toCondition(fields.when),
    /** Columns; each set of their values is an instance. Empty: the whole answer is one. */
    per: fields.per ?? [],
    forMs: (fields.for ?? 0) * 1000,
    keepFiringForMs: (fields.keep_firing_for ?? 0) * 1000,
    noData: fields.no_data ?? 'ok',
    onError: fields.on_error ?? 'keep',
    severity: fields.severity ?? 'warning',
    /** `undefined`: a firing alert is sent once. */
    repeatMs: fields.repeat && fields.repeat * 1000,
  };
}

function toCondition(when: AlertFile['when']) {
  if (when === 'rows') return { kind: 'rows' as const };
  for (const kind of COMPARISONS) {
    const value = when[kind];
    if (value !== undefined) return { kind, column: when.column, value };
  }
  throw new Error('findFaults has found a comparison');
}
