import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';
import { InputError } from '../../errors.ts';
import type { KeyRecord } from '../../keys/control-store.ts';
import { isScope, SCOPES, type Scope } from '../../keys/scope.ts';
import { parseDuration } from '../../lib/duration.ts';
import { readConfig, withKeyring } from '../environment.ts';

export function keysCommand(): Command {
  const keys = new Command('keys').description(
    'Make, list and revoke keys; a running service follows at once.',
  );
  keys
    .command('create')
    .description('Make a key and print it. This is the only time that it can be seen.')
    .requiredOption('--name <name>', 'what the key is for', parseName)
    .option('--scope <scopes>', `what it may do, joined by commas: ${SCOPES.join(', ')}`, parseScopes, [
      'query' as const,
    ])
    .option('--expires <time>', 'how long it lives, such as 90d or 12h (default: for ever)', parseExpiry)
    .action(create);
  keys
    .command('list')
    .description('List keys, newest first; the keys themselves are not stored.')
    .action(list);
  keys
    .command('revoke')
    .description('Revoke a key by its id.')
    .argument('<id>', 'id from `keys list`')
    .action(revoke);
  return keys;
}

async function create(options: { name: string; scope: readonly Scope[]; expires?: number }): Promise<void> {
  const { name, scope: scopes, expires } = options;
  const expiry = expires === undefined ? {} : { expiresMs: Date.now() + expires };
  const { id, key } = await withKeyring(readConfig(), (keyring) =>
    keyring.create({ name, scopes, ...expiry }),
  );
  process.stderr.write(`Key ${id} with scope ${scopes.join(', ')}. Keep it now, it is not shown again:\n`);
  process.stdout.write(`${key}\n`);
}

async function list(): Promise<void> {
  const records = await withKeyring(readConfig(), (keyring) => keyring.list());
  const table = new Table({
    head: ['id', 'name', 'scopes', 'created', 'state'],
    style: { head: [], border: [] },
  });
  for (const record of records) {
    table.push([record.id, record.name, record.scopes.join(', '), isoDay(record.createdMs), stateOf(record)]);
  }
  process.stdout.write(
    records.length === 0 ? 'No keys. Make one with: npx tailrace keys create --name <name>\n' : `${table}\n`,
  );
}

async function revoke(id: string): Promise<void> {
  const revoked = await withKeyring(readConfig(), (keyring) => keyring.revoke(id));
  // What was given is not repeated: it may be a whole key, and errors are written down in many places.
  if (!revoked)
    throw new InputError([
      'no key of this id is in use; "npx tailrace keys list" shows the ids, of 12 characters',
    ]);
  process.stdout.write(`Key ${id} is revoked.\n`);
}

function stateOf({ revokedMs, expiresMs }: KeyRecord): string {
  if (revokedMs !== undefined) return `revoked ${isoDay(revokedMs)}`;
  if (expiresMs === undefined) return 'active';
  return `${expiresMs <= Date.now() ? 'expired' : 'active until'} ${isoDay(expiresMs)}`;
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}

function parseName(text: string): string {
  if (text.trim() === '' || text.length > 100)
    throw new InvalidArgumentError('It must have 1 to 100 characters.');
  return text.trim();
}

function parseScopes(text: string): Scope[] {
  const scopes = text.split(',').map((scope) => scope.trim());
  if (scopes.every(isScope)) return scopes;
  throw new InvalidArgumentError(`It must be made of ${SCOPES.join(', ')}.`);
}

function parseExpiry(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError('It must be a time such as 90d, 12h or 30m.');
  return ms;
}
