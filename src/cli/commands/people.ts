import { Argument, Command } from 'commander';
import { InputError } from '../../errors.ts';
import type { ControlStore } from '../../keys/control-store.ts';
import { endRecorded } from '../../management/sessions.ts';
import { withControlStore } from '../environment.ts';
import { formatCounted, formatMinute, formatTable } from '../format.ts';
import { readStoreConfig } from '../local-service.ts';

export function peopleCommand(): Command {
  return new Command('people')
    .description(
      'List who has signed in to the console, or end a session, or those of a person or key; effective within a second.',
    )
    .addArgument(new Argument('<list|end>', 'what to do').choices(['list', 'end']))
    .argument('[id]', 'with `end`: id of a session, person or key')
    .action((action: string, id: string | undefined) => {
      if ((action === 'end') !== (id !== undefined))
        throw new InputError(['give an id to "people end", and none to "people list"']);
      return withControlStore(readStoreConfig(), (control) =>
        id === undefined ? list(control) : end(control, id),
      );
    });
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
      `no session is that, or of a person or key, ${JSON.stringify(id.slice(0, 200))}; "npx tailrace people list" shows the ids`,
    ]);
  for (const session of found)
    await endRecorded({ sessions, control, now: Date.now }, session.id, { actor: 'cli' });
  process.stdout.write(`${formatCounted(found.length, 'session')} ended.\n`);
}
