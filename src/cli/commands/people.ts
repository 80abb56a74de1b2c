import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { InputError } from '../../errors.ts';
import { listAllSessions, type SessionRecord, type SessionStore } from '../../keys/session-store.ts';
import { endSessions, toSessionView } from '../../management/sessions.ts';
import { createCallerOf, type Roles } from '../../people/role.ts';
import { createRolesReader } from '../../service/roles.ts';
import { withControlStore } from '../environment.ts';
import { readStoreConfig } from '../find-store.ts';
import { formatCounted, formatMinute } from '../format.ts';
import { printJson } from '../print-json.ts';
import { formatTable } from '../table.ts';

type Ended = Parameters<SessionStore['end']>[0];

const JSON_HELP = 'print JSON instead of a table';
const WHO_HELP = 'id of a session, or name or id of a person or key';

interface ListOptions {
  readonly json?: boolean;
}

export function peopleCommand(): Command {
  const people = new Command('people').description(
    'List who has signed in to the console, and end sessions; effective within a second in a running service.',
  );
  people
    .command('list')
    .description('List people with a session, and the role that each has now.')
    .option('--json', JSON_HELP)
    .action(list);
  people
    .command('sessions')
    .description('List the sessions of people and keys, newest first.')
    .argument('[who]', WHO_HELP)
    .option('--json', JSON_HELP)
    .action(sessions);
  people
    .command('end')
    .description('End a session, or those of a person or key, or all.')
    .argument('[who]', WHO_HELP)
    .option('--all', 'end the sessions of everyone')
    .action(end);
  return people;
}

async function list({ json = false }: ListOptions): Promise<void> {
  const config = readStoreConfig();
  const records = await withControlStore(config, (store) => listAllSessions(store.sessions));
  const ofPeople = records.filter(({ claims }) => claims !== undefined);
  const roles = ofPeople.length === 0 ? undefined : await readRolesNow(config);
  const result = Object.values(Object.groupBy(ofPeople, ({ owner }) => owner)).map((own = []) =>
    toPerson(own, roles),
  );
  if (json) return printJson({ result });
  const rows = result.map(({ name, id, role, denied, sessions: count, seen_at: seen }) => {
    return [name, id, role ?? `none: ${denied}`, count, formatMinute(Date.parse(seen))];
  });
  print(['name', 'id', 'role', 'sessions', 'last seen'], rows, 'Nobody has a session.');
}

/** @param own sessions of one person, newest first: its claims are those of the last sign-in */
function toPerson(own: readonly SessionRecord[], roles: Roles | undefined) {
  const [{ owner: id, name, claims = {} } = { owner: '', name: '' }] = own;
  const person = roles && createCallerOf({ id, name, claims }, roles)(() => undefined).person;
  return {
    ...{ id, name, role: person?.role ?? null, denied: person?.denied ?? null, sessions: own.length },
    seen_at: new Date(Math.max(...own.map(({ seenMs }) => seenMs))).toISOString(),
  };
}

async function sessions(who: string | undefined, { json = false }: ListOptions): Promise<void> {
  const records: readonly SessionRecord[] = await withControlStore(readStoreConfig(), async (store) =>
    who === undefined ? await listAllSessions(store.sessions) : await findSessions(store.sessions, who),
  );
  if (json) return printJson({ result: records.map((record) => toSessionView(record)) });
  const rows = records.map(({ id, name, owner, createdMs, seenMs, expiresMs, address }) => {
    const times = [createdMs, seenMs, expiresMs].map(formatMinute);
    return [id, `${name}\n${owner}`, ...times, address];
  });
  print(['id', 'who', 'signed in', 'last seen', 'ends', 'from'], rows, 'No sessions.');
}

async function end(who: string | undefined, { all = false }: { readonly all?: boolean }): Promise<void> {
  if (all === (who !== undefined))
    throw new InputError(['name a session, a person or a key, or give --all; not both']);
  const ended = await withControlStore(readStoreConfig(), async (control) => {
    const parts = { sessions: control.sessions, control, now: Date.now };
    return await endSessions(parts, await findNamed(control.sessions, who), { actor: 'cli' });
  });
  process.stdout.write(`${formatCounted(ended.length, 'session')} ended.\n`);
}

/** Returns which sessions a text names; without one, all. @throws InputError as `findSessions` */
async function findNamed(store: SessionStore, who: string | undefined): Promise<Ended> {
  if (who === undefined) return 'all';
  const [one] = await findSessions(store, who);
  return one?.id === who ? { id: who } : { owner: one?.owner ?? who };
}

/**
 * Finds the sessions that a text names, at least one: by an id or a name. Ids come first, since anyone may have any name.
 *
 * @throws InputError if there is none, or several people have the name
 */
async function findSessions(store: SessionStore, who: string): Promise<readonly SessionRecord[]> {
  const one = await store.find(who);
  if (one !== undefined) return [one];
  const own = await store.list(who);
  if (own.length > 0) return own;
  const named = (await listAllSessions(store)).filter(({ name }) => name === who);
  const [owner, ...others] = new Set(named.map((record) => record.owner));
  if (owner === undefined)
    throw new InputError([
      `no session, person or key ${JSON.stringify(who.slice(0, 200))} is signed in; "npx tailrace people sessions" lists them`,
    ]);
  if (others.length === 0) return await store.list(owner);
  const ids = [owner, ...others];
  throw new InputError([`${ids.length} people have this name; give an id: ${ids.join(', ')}`]);
}

/** Reads the roles as a running service does. A fault means that nobody has a role; it is printed. */
async function readRolesNow(config: Config): Promise<Roles> {
  const { definitions } = await readDefinitions(config);
  const reader = createRolesReader(config);
  const faults = (await reader.follow(definitions)) ?? [];
  for (const fault of faults) process.stderr.write(`tailrace: ${fault}\n`);
  return reader.current();
}

function print(head: readonly string[], rows: readonly (readonly (string | number)[])[], none: string): void {
  process.stdout.write(rows.length === 0 ? `${none}\n` : `${formatTable(head, rows)}\n`);
}
