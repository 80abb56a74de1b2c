import { Command } from 'commander';
import { SCOPES } from '../../keys/grant.ts';
import type { Service } from '../../service/service.ts';
import { readConfig, stopSignal } from '../environment.ts';
import { createLogger, runService } from '../run-service.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the service.')
    .option('--sample', 'first fill an empty store with realistic logs')
    .option('--watch', 'reload the definitions when one of their files changes')
    .action(serve);
}

async function serve({ sample, watch = false }: { sample?: boolean; watch?: boolean }): Promise<void> {
  const config = readConfig();
  const stop = stopSignal();
  await runService({
    ...{ config, logger: createLogger(config), stop, command: 'serve', isWatching: watch, welcome },
    async fill(core, signal) {
      if (sample !== true) return;
      const { fillWithSample } = await import('./sample.ts'); // loaded only if it is used
      await fillWithSample(core, signal);
    },
  });
}

/** Creates a first key if there is none that can query. */
async function welcome({ keyring }: Service) {
  if (await keyring.hasUsableKey()) {
    const about = [
      'Put a key into TAILRACE_KEY to try it. A key for everything, including the console:',
      ...['', `  npx tailrace keys create --name me --scope ${SCOPES.join(',')}`],
    ];
    return { about, key: '$TAILRACE_KEY' };
  }
  const { key } = await keyring.create({ name: 'first key', scopes: SCOPES });
  return { about: ['A key was created, with every scope. It is not shown again:', '', `  ${key}`], key };
}
