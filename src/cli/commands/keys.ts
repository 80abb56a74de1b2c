import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { InputError } from '../../errors.ts';
import { checkAgainst, checkGrant, describeGrant, type Grant } from '../../keys/grant.ts';
import type { KeyRecord } from '../../keys/key-record.ts';
import { toKeyView } from '../../management/key-view.ts';
import { withKeyring } from '../environment.ts';
import { readStoreConfig } from '../find-store.ts';
import { formatMinute, formatTable } from '../format.ts';
import { printJson } from '../print-json.ts';
import { addKeyOptions, type KeyOptions, parseName, parseOverlap, toKeyFields } from './key-options.ts';

const OVERLAP_MS = 7 * 86_400_000;
const JSON_HELP = 'print the JSON of the HTTP API instead of a table';

export function keysCommand(): Command {
  const keys = new Command('keys').description(
    'Create, list and revoke keys; effective at once in a running service.',
  );
  addKeyOptions(
    keys
      .command('create')
      .description('Create a key and print it; it is shown only once.')
      .requiredOption('--name <name>', 'purpose of the key', parseName),
  ).action(create);
  keys
    .command('list')
    .description('List keys, newest first, without their text.')
    .option('--json', JSON_HELP)
    .action(list);
  keys
    .command('rotate')
    .description('Create a successor with the same rights and print it; the old key ends after the overlap.')
    .argument('<id>', 'id from `keys list`')
    .option('--overlap <time>', 'how long both are valid (default: 7d)', parseOverlap)
    .action(rotate);
  keys
    .command('revoke')
    .description('Revoke a key by its id.')
    .argument('<id>', 'id from `keys list`')
    .action(revoke);
  return keys;
}

async function create(options: KeyOptions): Promise<void> {
  const config = readStoreConfig();
  const fields = toKeyFields(options, Date.now());
  await check(config, fields);
  const { id, key } = await withKeyring(config, (keyring) => keyring.create(fields));
  printKey(`Key ${id} with ${describeGrant(fields)}. Keep it now, it is not shown again:`, key);
}

async function rotate(id: string, { overlap = OVERLAP_MS }: { overlap?: number }): Promise<void> {
  const created = await withKeyring(readStoreConfig(), async (keyring) => {
    const successor = await keyring.rotate(id, overlap);
    return successor && { ...successor, ends: (await keyring.find(id))?.expiresMs };
  });
  if (created === undefined) throw unknownKey();
  const until =
    created.ends === undefined ? '' : ` The old key is valid until ${formatMinute(created.ends)}.`;
  printKey(`Key ${created.id} succeeds ${id}.${until} Keep it now, it is not shown again:`, created.key);
}

async function revoke(id: string): Promise<void> {
  const revoked = await withKeyring(readStoreConfig(), (keyring) => keyring.revoke(id));
  if (!revoked) throw unknownKey();
  process.stdout.write(`Key ${id} is revoked.\n`);
}

async function list({ json = false }: { json?: boolean }): Promise<void> {
  const records = await withKeyring(readStoreConfig(), (keyring) => keyring.list());
  if (json) return printJson({ result: records.map(toKeyView) });
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

/** The message does not repeat the given id: it may be a whole key by mistake, and errors are logged. */
function unknownKey(): InputError {
  return new InputError([
    'no key of this id is in use; "npx tailrace keys list" shows the ids, of 12 characters',
  ]);
}

function printKey(about: string, key: string): void {
  process.stderr.write(`${about}\n`);
  process.stdout.write(`${key}\n`);
}

function stateOf({ revokedMs, expiresMs, successor }: KeyRecord): string {
  const next = successor === undefined ? '' : `, successor ${successor}`;
  if (revokedMs !== undefined) return `revoked ${formatMinute(revokedMs)}${next}`;
  if (expiresMs === undefined) return `active${next}`;
  return `${expiresMs <= Date.now() ? 'expired' : 'active until'} ${formatMinute(expiresMs)}${next}`;
}
