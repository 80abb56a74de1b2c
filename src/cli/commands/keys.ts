import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import type { Config } from '../../config/config.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { InputError } from '../../errors.ts';
import { checkAgainst, checkGrant } from '../../keys/check-grant.ts';
import { openControlStore } from '../../keys/control-store.ts';
import { copyControlStore } from '../../keys/copy-store.ts';
import { describeGrant, type Grant } from '../../keys/grant.ts';
import type { KeyRecord } from '../../keys/key-record.ts';
import { openSqliteStore, SQLITE_FILE } from '../../keys/sqlite-store.ts';
import { toEntryView, toKeyView } from '../../management/key-view.ts';
import { readConfig, withKeyring } from '../environment.ts';
import { formatTable } from '../table.ts';
import {
  addKeyOptions,
  addLiftingOptions,
  type KeyOptions,
  parseCount,
  parseName,
  parseOverlap,
  toKeyChange,
} from './key-options.ts';

const OVERLAP_MS = 7 * 86_400_000;
const ENTRIES_MAX = 100_000;
const JSON_HELP = 'print {"result":[…]} as the HTTP API has it, instead of a table';

export function keysCommand(): Command {
  const keys = new Command('keys').description(
    'Make, change, list and revoke keys; a running service follows at once.',
  );
  addKeyOptions(
    keys
      .command('create')
      .description('Make a key and print it. This is the only time that it can be seen.')
      .requiredOption('--name <name>', 'what the key is for', parseName),
  ).action(create);
  keys
    .command('list')
    .description('List keys, newest first; the keys themselves are not stored.')
    .option('--json', JSON_HELP)
    .action(list);
  addLiftingOptions(
    addKeyOptions(
      keys
        .command('update')
        .description(
          'Change what a key may do; what is not named stays. Lists and pins are given as a whole.',
        )
        .argument('<id>', 'id from `keys list`')
        .option('--name <name>', 'what the key is for', parseName),
    ),
  ).action(update);
  keys
    .command('rotate')
    .description('Make a successor with the same rights and print it; the old key ends after the overlap.')
    .argument('<id>', 'id from `keys list`')
    .option('--overlap <time>', 'how long both are good (default: 7d)', parseOverlap)
    .action(rotate);
  keys
    .command('revoke')
    .description('Revoke a key by its id.')
    .argument('<id>', 'id from `keys list`')
    .action(revoke);
  keys
    .command('log')
    .description('Show what was done with keys and what was refused to them, newest first.')
    .option('--limit <n>', 'entries (default: 50)', (text) => parseCount(text, ENTRIES_MAX))
    .option('--json', JSON_HELP)
    .action(log);
  keys
    .command('copy')
    .description(
      'Copy the keys of a data directory, as hashes, and their audit trail to TAILRACE_CONTROL_URL. What is there stays.',
    )
    .requiredOption('--from <dir>', 'the data directory', parseDirectory)
    .action(copy);
  return keys;
}

async function create({ name = '', ...options }: KeyOptions): Promise<void> {
  const config = readConfig();
  const change = toKeyChange({ scope: ['query'], ...options }, Date.now());
  const { scopes = [], pins = {} } = change;
  const fields = { ...change, name, scopes, pins };
  await check(config, fields);
  const { id, key } = await withKeyring(config, (keyring) => keyring.create(fields));
  printKey(`Key ${id} with ${describeGrant(fields)}. Keep it now, it is not shown again:`, key);
}

async function update(id: string, options: KeyOptions): Promise<void> {
  const config = readConfig();
  const old = await withKeyring(config, (keyring) => keyring.find(id));
  const change = toKeyChange(options, Date.now(), old?.rate);
  if (old === undefined) throw unknownKey();
  if (Object.keys(change).length === 0)
    throw new InputError(['nothing is to be changed; "npx tailrace keys update --help" lists the options']);
  await check(config, { ...old, ...change });
  const changed = await withKeyring(config, (keyring) => keyring.update(id, change));
  if (changed === undefined) throw unknownKey();
  process.stdout.write(`Key ${id} has ${describeGrant(changed)}.\n`);
}

async function rotate(id: string, { overlap = OVERLAP_MS }: { overlap?: number }): Promise<void> {
  const made = await withKeyring(readConfig(), async (keyring) => {
    const successor = await keyring.rotate(id, overlap);
    return successor && { ...successor, ends: (await keyring.find(id))?.expiresMs };
  });
  if (made === undefined) throw unknownKey();
  const until = made.ends === undefined ? '' : ` The old key is good until ${isoMinute(made.ends)}.`;
  printKey(`Key ${made.id} succeeds ${id}.${until} Keep it now, it is not shown again:`, made.key);
}

async function revoke(id: string): Promise<void> {
  const revoked = await withKeyring(readConfig(), (keyring) => keyring.revoke(id));
  if (!revoked) throw unknownKey();
  process.stdout.write(`Key ${id} is revoked.\n`);
}

async function list({ json = false }: { json?: boolean }): Promise<void> {
  const records = await withKeyring(readConfig(), (keyring) => keyring.list());
  if (json) return printJson(records.map(toKeyView));
  const rows = records.map((record) => {
    const { id, name, createdMs, lastUsedMs } = record;
    const may = describeGrant({ ...record, expiresMs: undefined });
    const used = lastUsedMs === undefined ? 'never' : isoMinute(lastUsedMs);
    return [id, name, may, isoMinute(createdMs), used, stateOf(record)];
  });
  process.stdout.write(
    records.length === 0
      ? 'No keys. Make one with: npx tailrace keys create --name <name>\n'
      : `${formatTable(['id', 'name', 'may', 'created', 'last used', 'state'], rows)}\n`,
  );
}

async function log({ limit = 50, json = false }: { limit?: number; json?: boolean }): Promise<void> {
  const entries = await withKeyring(readConfig(), (keyring) => keyring.log({ limit }));
  if (json) return printJson(entries.map(toEntryView));
  const rows = entries.map(({ atMs, action, keyId, actor, count, detail }) => {
    return [isoMinute(atMs), action, keyId, actor, count, detail];
  });
  process.stdout.write(
    entries.length === 0
      ? 'Nothing has happened yet.\n'
      : `${formatTable(['time', 'what', 'key', 'by', 'times', 'detail'], rows)}\n`,
  );
}

function printJson(result: readonly object[]): void {
  process.stdout.write(`${JSON.stringify({ result })}\n`);
}

async function copy({ from }: { from: string }): Promise<void> {
  const config = readConfig();
  if (config.controlUrl === '')
    throw new InputError(['TAILRACE_CONTROL_URL must be set: it is where the keys are copied to']);
  const source = openSqliteStore(from);
  try {
    const target = await openControlStore(config);
    try {
      const copied = await copyControlStore(source, target);
      process.stdout.write(
        `${copied.keysAdded} keys copied, ${copied.keysLeft} were there already; ${copied.entriesAdded} entries of the audit trail copied, ${copied.entriesLeft} were there already.\n`,
      );
      const faults = copied.keysDiffering.map(
        (id) => `the key ${id} is another one there; it was not copied`,
      );
      if (faults.length > 0) throw new InputError(faults);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** A mistyped folder must not be made and copied as one without keys. */
function parseDirectory(text: string): string {
  if (existsSync(join(text, SQLITE_FILE))) return text;
  throw new InvalidArgumentError(`It has no ${SQLITE_FILE}.`);
}

/** @throws InputError with every fault; against the definitions only where they are whole */
async function check(config: Config, grant: Grant): Promise<void> {
  const { definitions, faults: unread } = await readDefinitions(config);
  if (unread.length > 0)
    process.stderr.write('tailrace: the definitions have faults, so names are not checked against them\n');
  const faults = [...checkGrant(grant), ...(unread.length > 0 ? [] : checkAgainst(definitions, grant))];
  if (faults.length > 0)
    throw new InputError(faults.map(({ parameter, message }) => `${parameter} ${message}`));
}

/** What was given is not repeated: it may be a whole key, and errors are written down in many places. */
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
  if (revokedMs !== undefined) return `revoked ${isoMinute(revokedMs)}${next}`;
  if (expiresMs === undefined) return `active${next}`;
  return `${expiresMs <= Date.now() ? 'expired' : 'active until'} ${isoMinute(expiresMs)}${next}`;
}

function isoMinute(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}
