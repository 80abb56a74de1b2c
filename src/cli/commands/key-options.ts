import { type Command, InvalidArgumentError } from 'commander';
import { InputError } from '../../errors.ts';
import {
  createRate,
  DESCRIPTION_CHARS_MAX,
  type Grant,
  isScope,
  NAME_CHARS_MAX,
  PER_SECOND_MAX,
  SCOPES,
  type Scope,
  toListed,
} from '../../keys/grant.ts';
import { collect, parseDuration, parsePair, wholeNumber } from '../options.ts';

/** The options of `keys create`. */
export interface KeyOptions {
  readonly name?: string;
  readonly description?: string;
  readonly scope?: readonly Scope[];
  readonly endpoint?: readonly string[];
  readonly source?: readonly string[];
  readonly pin?: Grant['pins'];
  readonly expires?: number;
  readonly rate?: number;
  readonly burst?: number;
}

/** Adds the options that define the rights of a key. */
export function addKeyOptions(command: Command): Command {
  return command
    .option('--scope <scopes>', `scopes, joined by commas: ${SCOPES.join(', ')}`, parseScopes)
    .option('--endpoint <name>', 'an endpoint that it may read; repeatable', collect)
    .option('--source <name>', 'a source that it may send to; repeatable', collect)
    .option('--pin <name=value>', 'the only value of a parameter; repeatable', collectPin)
    .option('--expires <time>', 'time until it expires, such as 90d or 12h', parseExpiry)
    .option('--rate <n>', 'requests a second', parseRate)
    .option('--burst <n>', 'requests at once (default: twice the rate)', wholeNumber(1, PER_SECOND_MAX))
    .option('--description <text>', 'a note for people', parseDescription);
}

/** Returns the fields of a new key. @throws InputError for a burst without a rate */
export function toKeyFields(options: KeyOptions, nowMs: number) {
  const { name = '', description, scope = ['query' as const], endpoint, source, pin = {}, expires } = options;
  const { rate, burst } = options;
  if (burst !== undefined && rate === undefined) throw new InputError(['--burst needs --rate']);
  return {
    ...{ name, scopes: scope, pins: pin },
    ...(description !== undefined && { description }),
    ...(endpoint !== undefined && { endpoints: toListed(endpoint) }),
    ...(source !== undefined && { sources: toListed(source) }),
    ...(expires !== undefined && { expiresMs: nowMs + expires }),
    ...(rate !== undefined && { rate: createRate(rate, burst) }),
  };
}

export function parseName(text: string): string {
  if (text.trim() === '' || text.length > NAME_CHARS_MAX)
    throw new InvalidArgumentError(`It must have 1 to ${NAME_CHARS_MAX} characters.`);
  return text.trim();
}

function parseDescription(text: string): string {
  if (text.length <= DESCRIPTION_CHARS_MAX) return text;
  throw new InvalidArgumentError(`It must have at most ${DESCRIPTION_CHARS_MAX} characters.`);
}

function parseScopes(text: string): Scope[] {
  const scopes = text.split(',').map((scope) => scope.trim());
  if (scopes.every(isScope)) return [...new Set(scopes)];
  throw new InvalidArgumentError(`It must have only ${SCOPES.join(', ')}, joined by commas.`);
}

function parseExpiry(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError('It must be a time such as 90d, 12h or 30m.');
  return ms;
}

export function parseOverlap(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError('It must be a time such as 7d or 12h, or 0s for no overlap.');
  return ms;
}

function parseRate(text: string): number {
  const rate = /^\d{1,7}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (rate > 0 && rate <= PER_SECOND_MAX) return rate;
  throw new InvalidArgumentError(`It must be a number above 0, up to ${PER_SECOND_MAX}.`);
}

function collectPin(text: string, others: Grant['pins'] = {}): Grant['pins'] {
  const [name, value] = parsePair(text);
  if (name === '__proto__') throw new InvalidArgumentError('It must name a parameter.');
  if (Object.hasOwn(others, name))
    throw new InvalidArgumentError(`It gives ${name} a second value; pin one.`);
  return { ...others, [name]: value };
}
