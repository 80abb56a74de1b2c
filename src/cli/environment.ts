import { type Config, findUnknownSettings, parseConfig } from '../config/config.ts';
import { openControlStore } from '../keys/control-store.ts';
import { createKeyring, type Keyring } from '../keys/keyring.ts';

/** The settings of this process. @throws InputError with every wrong one */
export function readConfig(): Config {
  const config = parseConfig(process.env);
  for (const name of findUnknownSettings(process.env)) {
    process.stderr.write(`tailrace: ${name} is not a setting; docs/settings.md lists them\n`);
  }
  return config;
}

/** How this process is named to others that want the same store. */
export function ownerName(command: string): string {
  return `tailrace ${command} (pid ${process.pid})`;
}

/**
 * Aborts on SIGINT or SIGTERM, so that a command can finish what it holds. The handlers stay: a terminal sends Ctrl-C to every
 * process of its group and npm passes it on, and without a handler the second one would end this process at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => controller.abort(signal));
  return controller.signal;
}

/** Works with the keys of the data directory, also while a service runs on it. */
export async function withKeyring<T>(config: Config, work: (keyring: Keyring) => T): Promise<T> {
  const store = openControlStore(config.dataDir);
  try {
    return work(createKeyring({ store, privateKey: '', publicKey: '', now: Date.now }));
  } finally {
    store.close();
  }
}
