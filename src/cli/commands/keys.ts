import { Command, InvalidArgumentError } from 'commander';
import type { Config } from '../../config/config.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { InputError } from '../../errors.ts';
import {
  checkAgainst,
  checkGrant,
  createRate,
  DESCRIPTION_CHARS_MAX,
  describeGrant,
  type Grant,
  isScope,
  type KeyRecord,
  NAME_CHARS_MAX,
  PER_SECOND_MAX,
  SCOPES,
  type Scope,
  toListed,
} from '../../keys/grant.ts';
import { toKeyView } from '../../management/key-view.ts';
import { withKeyring } from '../environment.ts';
import { collect, durationOption, formatMinute, formatTable, parsePair, wholeNumber } from '../format.ts';
import { readStoreConfig } from '../local-service.ts';

export function keysCommand(): Command {
  const keys = new Command('keys').description(
    'Create, list and revoke keys; effective at once in a running service.',
  );
  keys
    .command('create')
    .description('Create a key and print it; it is shown only once.')
    .requiredOption('--name <name>', 'purpose of the key', parseName)
    .option('--scope <scopes>', `scopes, joined by commas: ${SCOPES.join(', ')}`, parseScopes)
    .option('--endpoint <name>', 'an endpoint that it may read; repeatable', collect)
    .option('--source <name>', 'a source that it may send to; repeatable', collect)
    .option('--pin <name=value>', 'the only value of a parameter; repeatable', collectPin)
    .option('--expires <time>', 'time until it expires, such as 90d or 12h', durationOption)
    .option('--rate <n>', 'requests a second', parseRate)
    .option('--burst <n>', 'requests at once (default: twice the rate)', wholeNumber(1, PER_SECOND_MAX))
    .option('--description <text>', 'a note for people', parseDescription)
    .action(create);
  keys
    .command('list')
    .description('List keys, newest first, without their text.')
    .option('--json', 'print the JSON of the HTTP API instead of a table')
    .action(list);
  keys
    .command('revoke')
    .description('Revoke a key by its id.')
    .argument('<id>', 'id from `keys list`')
    .action(revoke);
  return keys;
}

interface KeyOptions {
  readonly name: string;
  readonly description?: string;
  readonly scope?: readonly Scope[];
  readonly endpoint?: readonly string[];
  readonly source?: readonly string[];
  readonly pin?: Grant['pins'];
  /** ms */
  readonly expires?: number;
  readonly rate?: number;
  readonly burst?: number;
}

/** @throws InputError for a burst without a rate, and with every fault of the grant */
async function create(options: KeyOptions): Promise<void> {
  const config = readStoreConfig();
  const { name, description, scope = ['query' as const], endpoint, source, pin = {}, expires } = options;
  const { rate, burst } = options;
  if (burst !== undefined && rate === undefined) throw new InputError(['--burst needs --rate']);
  const fields = {
    ...{ name, scopes: scope, pins: pin },
    ...(description !== undefined && { description }),
    ...(endpoint !== undefined && { endpoints: toListed(endpoint) }),
    ...(source !== undefined && { sources: toListed(source) }),
    ...(expires !== undefined && { expiresMs: Date.now() + expires }),
    ...(rate !== undefined && { rate: createRate(rate, burst) }),
  };
  await check(config, fields);
  const { id, key } = await withKeyring(config, (keyring) => keyring.create(fields));
  process.stderr.write(`Key ${id} with ${describeGrant(fields)}. Keep it now, it is not shown again:\n`);
  process.stdout.write(`${key}\n`);
}

async function revoke(id: string): Promise<void> {
  const revoked = await withKeyring(readStoreConfig(), (keyring) => keyring.revoke(id));
  // The message does not repeat the given id: it may be a whole key by mistake, and errors are logged.
  if (!revoked)
    throw new InputError([
      'no key of this id is in use; "npx tailrace keys list" shows the ids, of 12 characters',
    ]);
  process.stdout.write(`Key ${id} is revoked.\n`);
}

async function list({ json = false }: { json?: boolean }): Promise<void> {
  const records = await withKeyring(readStoreConfig(), (keyring) => keyring.list());
  if (json) return void process.stdout.write(`${JSON.stringify({ result: records.map(toKeyView) })}\n`);
  const rows = records.map((record) => {
    const { id, name, createdMs, lastUsedMs } = record;
    const may = describeGrant({ ...record, expiresMs: undefined });
    const used = lastUsedMs === undefined ? 'never' : formatMinute(lastUsedMs);
    return [id, name, formatMinute(createdMs), used, stateOf(record), may];
  });
  process.stdout.write(
    records.length === 0
      ? 'No keys. Create one with: npx tailrace keys create --name <name>\n'
      : `${formatTable(['id', 'name', 'created', 'last used', 'state', 'may'], rows)}\n`,
  );
}

/** Checks a grant, against the definitions only if they have no faults. @throws InputError with every fault */
async function check(config: Config, grant: Grant): Promise<void> {
  const { definitions, faults: unread } = await readDefinitions(config);
  if (unread.length > 0)
    process.stderr.write('tailrace: the definitions have faults, so names are not checked against them\n');
  const faults = [...checkGrant(grant), ...(unread.length > 0 ? [] : checkAgainst(definitions, grant))];
  if (faults.length > 0)
    throw new InputError(faults.map(({ parameter, message }) => `${parameter} ${message}`));
}

function stateOf({ revokedMs, expiresMs, successor }: KeyRecord): string {
  const next = successor === undefined ? '' : `, successor ${successor}`;
  if (revokedMs !== undefined) return `revoked ${formatMinute(revokedMs)}${next}`;
  if (expiresMs === undefined) return `active${next}`;
  return `${expiresMs <= Date.now() ? 'expired' : 'active until'} ${formatMinute(expiresMs)}${next}`;
}

function parseName(text: string): string {
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
