import { type Static, Type } from 'typebox';
import { closed, optional, wholeNumber } from '../lib/schema.ts';

/** Levels of events, least severe first. */
export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export type Level = (typeof LEVELS)[number];

/** The words that sources write for each level, in lower case; `debug5` is PostgreSQL's, `error2` OpenTelemetry's. */
export const LEVEL_TEXTS: Readonly<Record<Level, readonly string[]>> = {
  trace: ['trace', 'trace2', 'trace3', 'trace4', 'debug5', 'debug4'],
  debug: ['debug', 'debug3', 'debug2', 'debug1', 'verbose'],
  info: ['info', 'info2', 'info3', 'info4', 'log', 'notice', 'information', 'informational'],
  warn: ['warn', 'warn2', 'warn3', 'warn4', 'warning'],
  error: ['error', 'error2', 'error3', 'error4', 'err', 'severe'],
  fatal: ['fatal', 'fatal2', 'fatal3', 'fatal4', 'panic', 'critical', 'crit', 'alert', 'emergency', 'emerg'],
};

const LEVEL_OF_TEXT = new Map(LEVELS.flatMap((level) => LEVEL_TEXTS[level].map((text) => [text, level])));

/** Returns the level that a text means, in any letter case. */
export function findLevel(text: string): Level | undefined {
  return LEVEL_OF_TEXT.get(text.toLowerCase());
}

/** Syslog's severities, from 0. */
const SYSLOG = ['fatal', 'fatal', 'fatal', 'error', 'warn', 'info', 'info', 'debug'] as const;

/** Returns the level of a number: of pino and bunyan, 10 for `trace` to 60 for `fatal`, or of syslog, 0 to 7. */
export function levelOfNumber(number: number): Level | undefined {
  return SYSLOG[number] ?? LEVELS[Math.floor(number / 10) - 1];
}

/** OpenTelemetry's numbers of a level, such as 9 to 12 for `info`. */
export const NUMBERS_PER_LEVEL = 4;

/**
 * Returns the level to store for OpenTelemetry's severity: the text in lower case, if it is a level's. For a text with a
 * step, such as WARN2, and for any other, the number decides, if there is one.
 *
 * @param number from 1, `trace`, to 24, `fatal`; 0 if unknown
 */
export function levelOfSeverity(text: string, number: number): string {
  const named = findLevel(text);
  const isPlain = named !== undefined && !/\d$/.test(text);
  const numbered = LEVELS[Math.ceil(number / NUMBERS_PER_LEVEL) - 1];
  return isPlain ? text.toLowerCase() : (numbered ?? named ?? text.toLowerCase());
}

const STATUS_MAX = 999;
const WARN_FROM = 400;
const ERROR_FROM = 500;

const COLUMN = Type.String({ expected: 'the name of a column of this file' });

/** `level` in a source's file. */
export const LEVEL_FIELDS = closed(
  optional({
    column: COLUMN,
    status: COLUMN,
    warn_from: wholeNumber(STATUS_MAX),
    error_from: wholeNumber(STATUS_MAX),
  }),
  {
    minProperties: 1,
    expected: 'a map with "column", a column of texts, or "status", a column of integers, or both',
  },
);

export type LevelFields = Static<typeof LEVEL_FIELDS>;

/** How a source's events say their level: by the text of a typed column, else by the HTTP status in another. */
export type LevelRule = Readonly<ReturnType<typeof createLevel>>;

/** Statuses from `warnFrom` on are `warn`, and from `errorFrom` on `error`; lower ones are `info`. */
export function createLevel(fields: LevelFields) {
  const { column, status, warn_from: warnFrom = WARN_FROM, error_from: errorFrom = ERROR_FROM } = fields;
  return { column, status, warnFrom, errorFrom };
}
