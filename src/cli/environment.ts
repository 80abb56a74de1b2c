import { type Config, findUnknownSettings, parseConfig } from '../config/config.ts';
import { openControlStore } from '../keys/control-store.ts';
import { createKeyring, type Keyring } from '../keys/keyring.ts';
import { createTokens } from '../keys/token.ts';
import { openTokenSecret } from '../keys/token-secret.ts';
import { packagePath } from '../lib/package-path.ts';
import { watchParents } from './parent-watch.ts';

/**
 * The settings of this process.
 *
 * @param changes of its environment; `undefined` unsets a variable
 * @throws InputError with every wrong one
 */
export function readConfig(changes: Readonly<Record<string, string | undefined>> = {}): Config {
  const config = parseConfig({ ...process.env, ...changes });
  for (const name of findUnknownSettings(process.env)) {
    process.stderr.write(
      `tailrace: ${name} is not a setting; ${packagePath('docs/settings.md')} lists them\n`,
    );
  }
  return config;
}

/** How this process is named to others that want the same store. */
export function ownerName(command: string): string {
  return `tailrace ${command} (pid ${process.pid})`;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

// One Ctrl-C comes more than once: from the terminal, and passed on by npm and by scripts/start.js. What follows the
// first this soon is the same wish, and must not end the process in the middle of its stopping.
const SAME_WISH_MS = 1_000;

/**
 * Aborts on SIGINT or SIGTERM, and when npm has started this process and has ended, so that a command can finish what it holds. One
 * more signal, later, ends the process at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let firstMs: number | undefined; // of a signal: npm's end and scripts/start.js, which notices it too, are the same wish
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstMs === undefined) {
      firstMs = performance.now();
      controller.abort(signal);
    } else if (performance.now() - firstMs > SAME_WISH_MS) {
      for (const one of SIGNALS) process.off(one, onSignal);
      process.kill(process.pid, signal); // nobody listens any more: the system ends it
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  watchParents(process.env, () => controller.abort('the end of the process that started it'));
  return controller.signal;
}

/** Works with the keys of the settings, also while a service runs on them. */
export async function withKeyring<T>(config: Config, work: (keyring: Keyring) => Promise<T>): Promise<T> {
  const store = await openControlStore(config);
  try {
    const tokens = createTokens({
      secret: openTokenSecret(config.dataDir, config.tokenSecret),
      now: Date.now,
    });
    return await work(createKeyring({ store, tokens, privateKey: '', publicKey: '', now: Date.now }));
  } finally {
    await store.close();
  }
}
