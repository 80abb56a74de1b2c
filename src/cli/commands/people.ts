import { Command } from 'commander';
import { InputError } from '../../errors.ts';
import type { ControlStore } from '../../keys/control-store.ts';
import { endRecorded } from '../../management/sessions.ts';
import { withControlStore } from '../environment.ts';
import { formatCounted, formatMinute, formatTable } from '../format.ts';
import { readStoreConfig } from '../local-service.ts';

export function peopleCommand(): Command {
  const people = new Command('people').description(
    'List who has signed in to the console, and end sessions; effective within a second.',
  );
  people
    .command('list')
    .description('List the newest 1,000 sessions of people and keys, newest first.')
    .action(() => withControlStore(readStoreConfig(), list));
  people
    .command('end')
    .description('End a session, or all of a person or key.')
    .argument('<id>', 'id of a session, person or key from `people list`')
    .action((id: string) => withControlStore(readStoreConfig(), (control) => end(control, id)));
  return people;
}

async function list({ sessions }: ControlStore): Promise<void> {
  const rows = (await sessions.list()).map(({ id, name, owner, createdMs, seenMs, address }) => {
    return [id, name, owner, formatMinute(createdMs), formatMinute(seenMs), address];
  });
  process.stdout.write(
    rows.length === 0
      ? 'Nobody has signed in.\n'
      : `${formatTable(['session', 'name', 'person or key', 'signed in', 'last seen', 'from'], rows)}\n`,
  );
}

async function end(control: ControlStore, id: string): Promise<void> {
  const { sessions } = control;
  const one = await sessions.find(id);
  const found = one === undefined ? await sessions.list(id) : [one];
  if (found.length === 0)
    throw new InputError([
      `no session is that, or of a person or key, ${JSON.stringify(id.slice(0, 200))}; ` +
        '"npx tailrace people list" shows the ids',
    ]);
  for (const session of found)
    await endRecorded({ sessions, control, now: Date.now }, session.id, { actor: 'cli' });
  process.stdout.write(`${formatCounted(found.length, 'session')} ended.\n`);
}
