import { type Static, Type } from 'typebox';
import type { Alert } from '../../definitions/alert.ts';
import type { Endpoint } from '../../definitions/endpoint.ts';
import { SQL_PARAMETER } from '../../definitions/parameter.ts';
import { findNamed } from '../../definitions/registry.ts';
import type { YamlPath } from '../../definitions/yaml-file.ts';
import { ERROR_CODES } from '../../errors.ts';
import { describeNearest } from '../../lib/nearest.ts';
import { closed, optional } from '../../lib/schema.ts';
import { isPossiblePin } from '../../query/pins.ts';

/** Columns or members by name. Integers beyond 2^53 are BigInts. */
export type Row = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const INSTANT = Type.String({ expected: 'an ISO 8601 timestamp, such as 2026-11-20T12:00:00Z' });
export const ANY_MAP = (expected: string) => Type.Record(Type.String(), Type.Unknown(), { expected });
const CODES = Object.keys(ERROR_CODES);
const NAME_CHARS_MAX = 200;

export const CASE = closed(
  optional({
    name: Type.String({
      pattern: '^\\P{C}+$', // no control characters: it is printed
      maxLength: NAME_CHARS_MAX,
      expected: `a string of one line, of at most ${NAME_CHARS_MAX} characters`,
    }),
    now: INSTANT,
    // Evaluated instead of a request; its rows are the labels of what fires.
    alert: Type.String({ minLength: 1, expected: 'the name of an alert' }),
    parameters: ANY_MAP('a map of parameters'),
    pins: Type.Record(
      Type.String(),
      Type.String({ pattern: '^\\P{Cc}{1,256}$', expected: 'a string in quotes, of 1 to 256 characters' }),
      { expected: 'a map of strings by parameter name, as the pins of a key' },
    ),
    cursor: Type.Literal('next', { expected: 'next: the page after that of the case before' }),
    approximately: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      expected: 'the share by which numbers may differ: above 0, at most 1, such as 0.01',
    }),
    rows: Type.Array(ANY_MAP('a row: a map of columns'), { expected: 'a list of rows; [] for none' }),
    error: closed(
      {
        code: Type.Enum(CODES, { expected: `an error code: ${CODES.join(', ')}` }),
        parameter: Type.Optional(Type.String({ expected: 'the name of a parameter' })),
      },
      { expected: 'a map with "code" and, if one is wrong, "parameter"' },
    ),
  }),
  { expected: 'a case: a map of fields' },
);

export type CaseFields = Static<typeof CASE>;

/** One request, or one alert, and what is expected of it. A request for a next page has the fields that it continues. */
export interface TestCase extends CaseFields {
  readonly name: string;
  readonly line: number;
  /** The instant of its query, ms since the epoch. */
  readonly nowMs: number;
}

/** The alerts that a case may name. */
export interface KnownAlerts {
  readonly alerts: readonly Pick<Alert, 'id' | 'name' | 'per'>[];
  /** Whether no file has a fault, so that these are all. */
  readonly areAll: boolean;
}

interface CaseCheck {
  readonly endpoint: Endpoint;
  readonly alerts: KnownAlerts;
  /** The previous case of its file, with the fields that it continues itself; `undefined` for the first. */
  readonly before: CaseFields | undefined;
  readonly report: (at: YamlPath, message: string) => void;
}

/** Reports faults of a case beyond its shape. @param fields with those that it continues */
export function checkCase(fields: CaseFields, check: CaseCheck): void {
  checkExpectation(fields, check);
  checkRequest(fields, check);
  if (fields.cursor !== undefined) checkNext(check);
  if (fields.alert !== undefined) checkAlertCase(fields, check);
}

/**
 * Completes a request for the next page: it has the parameters, the pins and the instant of the previous page, unless
 * it has its own.
 */
export function continueCase(fields: CaseFields, before: CaseFields | undefined): CaseFields {
  if (fields.cursor === undefined) return fields;
  const { parameters, pins, now } = before ?? {};
  return { ...(parameters && { parameters }), ...(pins && { pins }), ...(now && { now }), ...fields };
}

/** An alert has its own parameters. Its rows are labels. */
function checkAlertCase(fields: CaseFields, { alerts: { alerts, areAll }, report }: CaseCheck): void {
  const { alert: name = '', rows = [] } = fields;
  const alert = findNamed(alerts, name);
  if (alert === undefined && areAll) report(['alert'], describeUnknownAlert(name, alerts));
  if (alert !== undefined)
    for (const [i, row] of rows.entries())
      for (const label of Object.keys(row).filter((one) => !alert.per.includes(one)))
        report(['rows', i, label], describeUnknownLabel(label, alert));
  for (const name of ['parameters', 'pins', 'cursor'] as const)
    if (fields[name] !== undefined) report([name], `a case with "alert" has no "${name}"; remove it`);
}

function describeUnknownAlert(name: string, alerts: KnownAlerts['alerts']): string {
  const names = alerts.map((one) => one.name);
  const right = describeNearest(name, names) || `; there are ${names.join(', ') || 'none'}`;
  return `no alert is called ${JSON.stringify(name.slice(0, NAME_CHARS_MAX))}${right}`;
}

function describeUnknownLabel(label: string, { name, per }: KnownAlerts['alerts'][number]): string {
  const known = per.length === 0 ? 'it has none: expect [{}] or []' : `its labels are ${per.join(', ')}`;
  return `${name} has no label "${label}"; ${known}`;
}

function checkNext({ endpoint, before, report }: CaseCheck): void {
  if (endpoint.pages === undefined)
    report(['cursor'], `${endpoint.name} has no pages: its definition has no "cursor"`);
  else if (before === undefined)
    report(['cursor'], '"cursor" needs a case before this one, whose page it continues');
  else if (before.error !== undefined)
    report(['cursor'], '"cursor" needs a case before this one with "rows", not with an "error"');
}

function checkRequest(
  { parameters = {}, pins = {}, error }: CaseFields,
  { endpoint, report }: CaseCheck,
): void {
  const known = endpoint.parameters.map(({ name }) => name);
  if (endpoint.sandboxing) known.push(SQL_PARAMETER);
  const reject = (field: string, name: string) =>
    report(
      [field, name],
      `${endpoint.name} has no parameter "${name}"; it has ${known.join(', ') || 'none'}`,
    );
  // What the service rejects as such can be expected.
  const mayReject = endpoint.strict && error !== undefined;
  for (const name of Object.keys(parameters))
    if (!known.includes(name) && !mayReject) reject('parameters', name);
  for (const [name, pin] of Object.entries(pins)) {
    const parameter = endpoint.parameters.find((one) => one.name === name);
    if (parameter === undefined && error?.code !== 'forbidden') reject('pins', name);
    if (parameter !== undefined && !isPossiblePin(parameter, pin, Number.POSITIVE_INFINITY))
      report(
        ['pins', name],
        `"${name}" cannot be pinned to ${JSON.stringify(pin)}, which it does not accept`,
      );
  }
}

function checkExpectation({ approximately, rows, error }: CaseFields, { report }: CaseCheck): void {
  if (rows !== undefined && error !== undefined)
    report(['error'], 'a case expects "rows" or an "error", not both');
  if (rows === undefined && error === undefined)
    report([], '"rows" or "error" is missing; with rows: [] the test shows what is returned');
  if (approximately !== undefined && error !== undefined)
    report(['approximately'], '"approximately" needs "rows"');
}

/** Names a case after its request. */
export function nameCase({ name, alert, parameters = {}, cursor }: CaseFields): string {
  if (name !== undefined) return name;
  const request = describeRequest(alert === undefined ? parameters : { alert });
  return `${request}${cursor === undefined ? '' : ', next page'}`.slice(0, NAME_CHARS_MAX);
}

function describeRequest(parameters: Row): string {
  const texts = Object.entries(parameters).map(([name, value]) => `${name}=${toText(value)}`);
  return texts.length === 0
    ? 'without parameters'
    : texts.join(' ').replaceAll(/\p{C}/gu, ' ').slice(0, NAME_CHARS_MAX);
}

function toText(value: unknown): string {
  return Array.isArray(value) ? value.map(toText).join(',') : String(value);
}
