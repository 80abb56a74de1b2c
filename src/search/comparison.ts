import { LEVEL_TEXTS, LEVELS, type Level, type LevelRule } from '../definitions/level.ts';
import { writeValue } from '../sql/sql.ts';
import type { Compare, SearchOperator } from './parse.ts';

type WriteColumn = (name: string) => string;

/** How SQL has levels. */
export interface LevelForm {
  readonly of: (level: Level) => string;
  /** An event without a level. */
  readonly none: string;
}

/** Statements compare and count ranks, from 1 on: numbers take half the time of names. */
export const LEVEL_RANKS: LevelForm = { of: (level) => String(LEVELS.indexOf(level) + 1), none: '0' };
export const LEVEL_NAMES: LevelForm = { of: writeValue, none: "''" };

const NAME_LIST = ['', ...LEVELS].map(writeValue).join(', ');

/** Writes the name of a level, or NULL, from its rank: outside of the SELECTs of sources, as names take long to analyse. */
export function writeLevelName(rank: string): string {
  return `nullIf([${NAME_LIST}][${rank} + 1], '')`;
}

/** Writes the level of an event. */
export function writeLevel(rule: LevelRule | undefined, column: WriteColumn, form: LevelForm): string {
  const byText = rule?.column === undefined ? undefined : ofLower(writeLower(column(rule.column)), form);
  const byStatus = rule?.status === undefined ? undefined : ofStatus(rule, column(rule.status), form);
  if (byText !== undefined && byStatus !== undefined)
    return `coalesce(nullIf(${byText}, ${form.none}), ${byStatus})`;
  return byText ?? byStatus ?? form.none;
}

/** Writes what an event's rank is computed from, for `joinPartsOfRank`: a text, and the rank by the status. */
export function writePartsOfRank(
  rule: LevelRule | undefined,
  column: WriteColumn,
): { readonly text: string; readonly status: string } {
  return {
    text: rule?.column === undefined ? "''" : column(rule.column),
    status: rule?.status === undefined ? 'toUInt8(0)' : ofStatus(rule, column(rule.status), LEVEL_RANKS),
  };
}

/** Writes the rank of a level from its parts: once outside of the SELECTs of sources, since texts take time to analyse. */
export function joinPartsOfRank(text: string, status: string): string {
  return `coalesce(nullIf(${ofLower(writeLower(text), LEVEL_RANKS)}, 0), ${status})`;
}

/** Writes whether an event's level is one of these. `write` writes that level, and is called only if it is needed. */
export function writeIsOfLevel(
  levels: readonly Level[],
  rule: LevelRule | undefined,
  { column, form, write }: { column: WriteColumn; form: LevelForm; write: () => string },
): string {
  if (levels.length === 0 || rule === undefined) return 'false';
  const { column: text, status } = rule;
  if (text !== undefined && status === undefined) {
    const texts = levels.flatMap((level) => LEVEL_TEXTS[level]);
    return `${writeLower(column(text))} IN (${texts.map(writeValue).join(', ')})`;
  }
  const range = text === undefined && status !== undefined ? writeRange(levels, rule, column(status)) : '';
  return range || `${write()} IN (${levels.map(form.of).join(', ')})`;
}

/** Levels by status, in the order of their statuses. */
const OF_STATUS: readonly Level[] = ['info', 'warn', 'error'];

/** Writes the range of statuses that mean these levels; empty if it is not one range. */
function writeRange(levels: readonly Level[], { warnFrom, errorFrom }: LevelRule, status: string): string {
  const isNamed = OF_STATUS.map((level) => levels.includes(level));
  const [first, last] = [isNamed.indexOf(true), isNamed.lastIndexOf(true)];
  if (first === -1) return 'false';
  if (isNamed.slice(first, last).includes(false)) return '';
  const starts = [undefined, warnFrom, errorFrom, undefined];
  const [from, until] = [starts[first], starts[last + 1]];
  const bounds = [from && `${status} >= ${from}`, until && `${status} < ${until}`].filter(Boolean);
  return bounds.join(' AND ') || `${status} IS NOT NULL`;
}

const ALL_TEXTS = LEVELS.flatMap((level) => LEVEL_TEXTS[level].map((text) => [text, level] as const));
const TEXT_LIST = ALL_TEXTS.map(([text]) => writeValue(text)).join(', ');

/** Uses `transform`, which the engine analyses faster than a condition for each level. */
function ofLower(lower: string, { of, none }: LevelForm): string {
  return `transform(${lower}, [${TEXT_LIST}], [${ALL_TEXTS.map(([, level]) => of(level)).join(', ')}], ${none})`;
}

function writeLower(text: string): string {
  return `lower(ifNull(${text}, ''))`;
}

function ofStatus({ warnFrom, errorFrom }: LevelRule, status: string, { of, none }: LevelForm): string {
  const [info, warn, error] = [of('info'), of('warn'), of('error')];
  const levels = `${status} >= ${errorFrom}, ${error}, ${status} >= ${warnFrom}, ${warn}`;
  return `multiIf(${levels}, ${status} IS NULL, ${none}, ${info})`;
}

/** How JSON writes a number, as a pattern. */
const NUMBER_FORM = '^(-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?)$';
const NUMBER = new RegExp(NUMBER_FORM);
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Whether a text is a number: finite, and as JSON writes it. Texts such as `05`, `.5`, `inf` and `1e400` are not. */
export function isNumber(text: string): boolean {
  return NUMBER.test(text) && Number.isFinite(Number(text));
}

// Digits on either side of the point.
const DECIMAL_DIGITS = 38;

/** Writes the text, if it has the form of a number. */
export const writeForm = (text: string) => `extract(${text}, ${writeValue(NUMBER_FORM)})`;
/** Writes the double that a text of this form is; NULL if it is none that is finite. */
export const writeDouble = (form: string) => `nullIf(nullIf(toFloat64OrNull(${form}), inf), -inf)`;
/** Writes the decimal that it is; NULL for zero, which may be a smaller number. */
export const writeDecimal = (form: string) => `nullIf(toDecimal256OrNull(${form}, ${DECIMAL_DIGITS}), 0)`;

/** SQL of the number that a text is: as a decimal, NULL if none holds it, and as a double. NULL if it is not a number. */
export interface NumberSql {
  readonly exact: string;
  readonly double: string;
}

/** Writes whether a number is in a range: exactly if decimals hold both, as doubles if not. @param bound a number */
export function writeBound({ exact, double }: NumberSql, operator: SearchOperator, bound: string): string {
  const ofDoubles = `${double} ${operator} ${printDouble(Number(bound))}`;
  const { digits, exponent } = parseDecimal(bound) ?? { digits: '', exponent: 0 };
  if (exponent > DECIMAL_DIGITS || digits.length - exponent > DECIMAL_DIGITS) return ofDoubles;
  return `ifNull(${exact} ${operator} toDecimal256('${bound}', ${DECIMAL_DIGITS}), ${ofDoubles})`;
}

/** Converts as the engine does. */
function printDouble(value: number): string {
  return String(value).replace('e+', 'e');
}

/** A number, exactly: `0.digits` × 10^`exponent`. Zero has no digits. */
interface Decimal {
  readonly isNegative: boolean;
  /** Without zeros at either end. */
  readonly digits: string;
  readonly exponent: number;
}

function parseDecimal(text: string): Decimal | undefined {
  if (!isNumber(text)) return undefined;
  const [, sign, whole = '', part = '', power = '0'] = PARTS.exec(text) ?? [];
  const all = whole + part;
  const start = all.search(/[1-9]/);
  if (start === -1) return { isNegative: false, digits: '', exponent: 0 };
  const digits = trimZeros(all.slice(start));
  return { isNegative: sign === '-', digits, exponent: whole.length - start + Number(power) };
}

/** Compares two numbers exactly: below 0 if the first is less. */
export function compareNumbers(a: string, b: string): number {
  const [one, other] = [Number(a), Number(b)];
  if (one !== other) return one < other ? -1 : 1; // rounding keeps the order
  const [x, y] = [parseDecimal(a), parseDecimal(b)];
  if (x === undefined || y === undefined || areEqual(x, y)) return 0;
  const order = x.exponent - y.exponent || (x.digits < y.digits ? -1 : 1);
  return x.isNegative ? -order : order;
}

/** Removes the zeros at the end: a regular expression would take time that grows with the square of their number. */
function trimZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

const INTEGER_DIGITS_MAX = 21;

/** Returns the texts of values that equal a text of a search: itself, and its number as the engine writes it in JSON. */
export function spellingsOf(text: string): readonly string[] {
  const decimal = parseDecimal(text);
  if (decimal === undefined) return [text];
  const { isNegative, digits, exponent } = decimal;
  if (digits === '') return [...new Set([text, '0', '-0'])];
  const isWhole = digits.length <= exponent;
  if (isWhole && exponent <= INTEGER_DIGITS_MAX)
    return [...new Set([text, `${isNegative ? '-' : ''}${digits.padEnd(exponent, '0')}`])];
  // A double may stand for other integers, too.
  const double = printDouble(Number(text));
  const isSame = isWhole ? areEqual(parseDecimal(double), decimal) : !/^-?\d+$/.test(double);
  return isSame ? [...new Set([text, double])] : [text];
}

function areEqual(a: Decimal | undefined, b: Decimal): boolean {
  return a?.isNegative === b.isNegative && a.digits === b.digits && a.exponent === b.exponent;
}

/** Returns the integer at or below a number, and whether it is the number. */
function floorOf({ isNegative, digits, exponent }: Decimal) {
  const isWhole = digits.length <= exponent || digits === '';
  // Beyond 64 bits the exact value does not matter.
  const size = Math.min(exponent, INTEGER_DIGITS_MAX + 1);
  const whole = size <= 0 || digits === '' ? 0n : BigInt(digits.slice(0, size).padEnd(size, '0'));
  return { floor: isNegative ? -whole - (isWhole ? 0n : 1n) : whole, isWhole };
}

const INTEGER_MIN = -(2n ** 63n);
const INTEGER_MAX = 2n ** 63n - 1n;

/**
 * Returns what a condition means for integers of 64 bits: `always` if every integer meets it. A bound between two of them
 * is rounded down, and its operator changed accordingly.
 */
export function boundOfInteger({ operator, value: [text], isQuoted }: Compare) {
  const decimal = parseDecimal(text);
  if (decimal === undefined) return 'never';
  const { floor, isWhole } = floorOf(decimal);
  if (operator === '=' && (!isWhole || (isQuoted && text !== String(floor)))) return 'never';
  const isAbove = operator.startsWith('>');
  if (floor < INTEGER_MIN || floor > INTEGER_MAX)
    return operator !== '=' && isAbove === floor < INTEGER_MIN ? 'always' : 'never';
  return { operator: isWhole ? operator : isAbove ? '>' : '<=', value: String(floor) };
}
