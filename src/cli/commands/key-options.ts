import { type Command, InvalidArgumentError } from 'commander';
import { InputError } from '../../errors.ts';
import { DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX, PER_SECOND_MAX } from '../../keys/check-grant.ts';
import { type Grant, toListed } from '../../keys/grant.ts';
import type { KeyChange } from '../../keys/management.ts';
import { createRate } from '../../keys/rate.ts';
import { isScope, SCOPES, type Scope } from '../../keys/scope.ts';
import { parseDuration } from '../../lib/duration.ts';

/** What `keys create` and `keys update` are told; `false` where a limit is to go. */
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

/** The options that say what a key may do. */
export function addKeyOptions(command: Command): Command {
  return command
    .option('--scope <scopes>', `scopes, joined by commas: ${SCOPES.join(', ')}`, parseScopes)
    .option('--endpoint <name>', 'an endpoint that it may read; repeatable', collect)
    .option('--source <name>', 'a source that it may send to; repeatable', collect)
    .option('--pin <name=value>', 'the only value of a parameter; repeatable', collectPin)
    .option('--expires <time>', 'time until it expires, such as 90d or 12h', parseExpiry)
    .option('--rate <n>', 'requests a second', parseRate)
    .option('--burst <n>', 'requests at once (default: twice the rate)', parseBurst)
    .option('--description <text>', 'a note for people', parseDescription);
}

/** The options that take a limit away. */
export function addLiftingOptions(command: Command): Command {
  return command
    .option('--no-endpoint', 'allow every endpoint')
    .option('--no-source', 'allow every source')
    .option('--no-pin', 'pin nothing')
    .option('--no-expires', 'let it never expire')
    .option('--no-rate', 'no rate limit');
}

/** @param old the rate that stays where only the burst is named */
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
  throw new InvalidArgumentError(`It must be made of ${SCOPES.join(', ')}.`);
}

function parseExpiry(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError('It must be a time such as 90d, 12h or 30m.');
  return ms;
}

export function parseOverlap(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('It must be a time such as 7d or 12h; 0s is none.');
  return ms;
}

function parseRate(text: string): number {
  const rate = /^\d{1,7}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (rate > 0 && rate <= PER_SECOND_MAX) return rate;
  throw new InvalidArgumentError(`It must be a number above 0, up to ${PER_SECOND_MAX}.`);
}

function parseBurst(text: string): number {
  return parseCount(text, PER_SECOND_MAX);
}

export function parseCount(text: string, max: number): number {
  const count = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= max) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
}

/** Commander hands on `true` where an option has a `--no-` form and was not given before. */
function collect(text: string, before: readonly string[] | boolean | undefined): string[] {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return [...(Array.isArray(before) ? before : []), text];
}

function collectPin(text: string, before: Grant['pins'] | boolean | undefined): Grant['pins'] {
  const at = text.indexOf('=');
  if (at < 1 || text.startsWith('__proto__=')) throw new InvalidArgumentError('It must be name=value.');
  const others = typeof before === 'object' ? before : {};
  const name = text.slice(0, at);
  if (Object.hasOwn(others, name))
    throw new InvalidArgumentError(`It gives ${name} a second value; pin one.`);
  return { ...others, [name]: text.slice(at + 1) };
}
