import { LEVEL_TEXTS, LEVELS, type Level, type LevelRule } from '../definitions/level.ts';
import { writeValue } from '../sql/sql.ts';

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

/**
 * Writes the name of a level, or NULL, from an expression for its rank. Used outside of the SELECTs of sources: each
 * name takes time to analyse.
 */
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
    text: rule?.column === undefined ? "''" : writeLower(column(rule.column)),
    status: rule?.status === undefined ? 'toUInt8(0)' : ofStatus(rule, column(rule.status), LEVEL_RANKS),
  };
}

/**
 * Writes the rank of an event's level from its parts: once outside of the SELECTs of sources, since the texts take time
 * to analyse.
 */
export function joinPartsOfRank(text: string, status: string): string {
  return `coalesce(nullIf(${ofLower(text, LEVEL_RANKS)}, 0), ${status})`;
}

/**
 * Writes whether an event's level is one of these.
 *
 * @param writeLevel writes the event's level; called only if the condition needs it
 */
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
  const bounds = [
    ...(from === undefined ? [] : [`${status} >= ${from}`]),
    ...(until === undefined ? [] : [`${status} < ${until}`]),
  ];
  return bounds.length === 0 ? `${status} IS NOT NULL` : bounds.join(' AND ');
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
  return `multiIf(${status} >= ${errorFrom}, ${error}, ${status} >= ${warnFrom}, ${warn}, ${status} IS NULL, ${none}, ${info})`;
}
