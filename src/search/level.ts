import { LEVEL_TEXTS, LEVELS, type Level, type LevelRule } from '../definitions/level.ts';
import { writeValue } from '../sql/quote.ts';

// Statements compare and count the ranks of levels, from 1 on, or 0 without a level: numbers take half the time of names.
const rankOf = (level: Level) => LEVELS.indexOf(level) + 1;
const NAMES = ['', ...LEVELS].map(writeValue).join(', ');

/**
 * Writes the name of a level, or NULL, from an expression for its rank. Used outside of the SELECTs of sources: each
 * name takes time to analyse.
 */
export function writeLevelName(rank: string): string {
  return `nullIf([${NAMES}][${rank} + 1], '')`;
}

/** Writes the rank of an event's level. @param column writes the name of a column */
export function writeLevelRank(rule: LevelRule | undefined, column: (name: string) => string): string {
  const byText = rule?.column === undefined ? undefined : writeRankOfText(column(rule.column));
  const byStatus = rule?.status === undefined ? undefined : writeRankOfStatus(rule, column(rule.status));
  if (byText !== undefined && byStatus !== undefined) return `coalesce(nullIf(${byText}, 0), ${byStatus})`;
  return byText ?? byStatus ?? '0';
}

/** Writes what an event's rank is computed from, for `joinPartsOfRank`: a text, and the rank by the status. */
export function writePartsOfRank(
  rule: LevelRule | undefined,
  column: (name: string) => string,
): { readonly text: string; readonly status: string } {
  return {
    text: rule?.column === undefined ? "''" : writeLower(column(rule.column)),
    status: rule?.status === undefined ? 'toUInt8(0)' : writeRankOfStatus(rule, column(rule.status)),
  };
}

/**
 * Writes the rank of an event's level from its parts: once outside of the SELECTs of sources, since the texts take time
 * to analyse.
 */
export function joinPartsOfRank(text: string, status: string): string {
  return `coalesce(nullIf(${writeRankOfLower(text)}, 0), ${status})`;
}

/**
 * Writes whether an event's level is one of these.
 *
 * @param writeRank writes the rank of the event's level; called only if the condition needs it
 */
export function writeIsOfLevel(
  levels: readonly Level[],
  {
    rule,
    writeRank,
    column,
  }: { rule: LevelRule | undefined; writeRank: () => string; column: (name: string) => string },
): string {
  if (levels.length === 0) return '0';
  if (rule?.column !== undefined && rule.status === undefined) {
    const texts = levels.flatMap((level) => LEVEL_TEXTS[level]);
    return `lower(ifNull(${column(rule.column)}, '')) IN (${texts.map(writeValue).join(', ')})`;
  }
  return `${writeRank()} IN (${levels.map(rankOf).join(', ')})`;
}

const ALL_TEXTS = LEVELS.flatMap((level) => LEVEL_TEXTS[level].map((text) => [text, level] as const));
const TEXT_LIST = ALL_TEXTS.map(([text]) => writeValue(text)).join(', ');
const RANK_LIST = ALL_TEXTS.map(([, level]) => rankOf(level)).join(', ');

/** Uses `transform`, which the engine analyses faster than a condition for each level. */
function writeRankOfLower(lower: string): string {
  return `transform(${lower}, [${TEXT_LIST}], [${RANK_LIST}], 0)`;
}

function writeLower(text: string): string {
  return `lower(ifNull(${text}, ''))`;
}

function writeRankOfText(text: string): string {
  return writeRankOfLower(writeLower(text));
}

function writeRankOfStatus({ warnFrom, errorFrom }: LevelRule, status: string): string {
  const [info, warn, error] = [rankOf('info'), rankOf('warn'), rankOf('error')];
  return `multiIf(${status} >= ${errorFrom}, ${error}, ${status} >= ${warnFrom}, ${warn}, ${status} IS NULL, 0, ${info})`;
}
