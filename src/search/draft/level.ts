import { LEVEL_TEXTS, LEVELS, type Level, type LevelRule } from '../../definitions/level.ts';
import { writeValue } from '../../sql/quote.ts';

type WriteColumn = (name: string) => string;

/** Writes the name of an event's level, NULL without one. */
export function writeLevel(rule: LevelRule | undefined, column: WriteColumn): string {
  if (rule === undefined) return NO_LEVEL;
  const { column: text, status, warnFrom, errorFrom } = rule;
  const byText =
    text === undefined ? [] : LEVELS.map((level) => `${isOf([level], column(text))}, '${level}'`);
  if (status === undefined) return `multiIf(${[...byText, 'NULL'].join(', ')})`;
  const code = column(status);
  const byStatus = [`${code} >= ${errorFrom}, 'error'`, `${code} >= ${warnFrom}, 'warn'`];
  return `multiIf(${[...byText, ...byStatus, `${code} IS NULL, NULL`, "'info'"].join(', ')})`;
}

const NO_LEVEL = "CAST(NULL, 'Nullable(String)')";

/** Writes whether an event has one of these levels. */
export function writeIsOfLevel(
  levels: readonly Level[],
  rule: LevelRule | undefined,
  column: WriteColumn,
): string {
  if (rule === undefined || levels.length === 0) return 'false';
  const { column: text, status } = rule;
  if (text !== undefined && status === undefined) return isOf(levels, column(text));
  if (text === undefined && status !== undefined) return writeIsOfStatus(levels, rule, column(status));
  return `${writeLevel(rule, column)} IN (${levels.map(writeValue).join(', ')})`;
}

function isOf(levels: readonly Level[], text: string): string {
  return `lower(${text}) IN (${levels
    .flatMap((level) => LEVEL_TEXTS[level])
    .map(writeValue)
    .join(', ')})`;
}

/** Writes the ranges of statuses that mean these levels; those that meet are one. */
function writeIsOfStatus(
  levels: readonly Level[],
  { warnFrom, errorFrom }: LevelRule,
  status: string,
): string {
  const [info, warn, error] = (['info', 'warn', 'error'] as const).map((level) => levels.includes(level));
  const low =
    info &&
    (warn ? (error ? `${status} IS NOT NULL` : `${status} < ${errorFrom}`) : `${status} < ${warnFrom}`);
  const high = error && (warn ? `${status} >= ${warnFrom}` : `${status} >= ${errorFrom}`);
  if (info && warn) return low || 'false';
  if (info && error) return `(${low} OR ${high})`;
  if (warn && !error) return `${status} >= ${warnFrom} AND ${status} < ${errorFrom}`;
  return low || high || 'false';
}
