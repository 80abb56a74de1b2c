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
import type { KeyChange } from '../../keys/management.ts';
import { collect, parseDuration, parsePair, wholeNumber } from '../options.ts';

/** The options of `keys create` and `keys update`; `false` removes a limit. */
export interface KeyOptions {
  readonly name?: string;
  readonly description?: string;
  readonly scope?: readonly Scope[];
  readonly endpoint?: readonly string[] | false;
  readonly source?: readonly string[] | false;
  readonly pin?: Grant['pins'] | false;
  readonly expires?: number | false;
  readonly rate?: number | false;
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

/** Adds the options that remove a limit. */
export function addLiftingOptions(command: Command): Command {
  return command
    .option('--no-endpoint', 'allow every endpoint')
    .option('--no-source', 'allow every source')
    .option('--no-pin', 'pin nothing')
    .option('--no-expires', 'let it never expire')
    .option('--no-rate', 'no rate limit');
}

/** @param old the rate that stays if only the burst is given */
export function toKeyChange(options: KeyOptions, nowMs: number, old?: Grant['rate']): KeyChange {
  const { name, description, scope, endpoint, source, pin, expires } = options;
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(scope !== undefined && { scopes: scope }),
    ...(endpoint !== undefined && { endpoints: endpoint ? toListed(endpoint) : undefined }),
    ...(source !== undefined && { sources: source ? toListed(source) : undefined }),
    ...(pin !== undefined && { pins: pin || {} }),
    ...(expires !== undefined && { expiresMs: expires === false ? undefined : nowMs + expires }),
    ...toRate(options, old),
  };
}

function toRate({ rate, burst }: KeyOptions, old: Grant['rate']): Pick<KeyChange, 'rate'> {
  if (rate === false) return { rate: undefined };
  const perSecond = rate ?? (burst === undefined ? undefined : old?.perSecond);
  if (perSecond === undefined) {
    if (burst === undefined) return {};
    throw new InputError(['--burst needs --rate']);
  }
  return { rate: createRate(perSecond, burst) };
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

function collectPin(text: string, before: Grant['pins'] | boolean | undefined): Grant['pins'] {
  const [name, value] = parsePair(text);
  if (name === '__proto__') throw new InvalidArgumentError('It must name a parameter.');
  const others = typeof before === 'object' ? before : {};
  if (Object.hasOwn(others, name))
    throw new InvalidArgumentError(`It gives ${name} a second value; pin one.`);
  return { ...others, [name]: value };
}
