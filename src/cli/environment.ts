import { type Config, findUnknownSettings, parseConfig } from '../config/config.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { createKeyring, type Keyring } from '../keys/keyring.ts';
import { openControlStore } from '../keys/open-control-store.ts';
import { createTokens, openTokenSecret } from '../keys/token.ts';
import { packagePath } from '../lib/file.ts';

/**
 * Reads the settings from the environment.
 *
 * @param changes of the environment; `undefined` unsets a variable
 * @throws InputError with every wrong one
 */
export function readConfig(changes: Readonly<Record<string, string | undefined>> = {}): Config {
  // First: a setting of an older build, or a misspelt one, may be the cause of a fault.
  for (const unknown of findUnknownSettings(process.env)) {
    process.stderr.write(`tailrace: ${unknown} (${packagePath('docs/settings.md')} lists the settings)\n`);
  }
  return { ...parseConfig({ ...process.env, ...changes }), engineEnv: pickEngineEnv(process.env) };
}

// Settings of the system, the dynamic linker, Node and the allocator. The engine process gets no key or password.
const ENGINE_VARIABLES = [
  /^(?:PATH|HOME|TMPDIR|TZ|TZDIR|LANG|LC_\w+|LD_\w+|DYLD_\w+)$/,
  /^(?:(?:JE_)?MALLOC_CONF|UV_THREADPOOL_SIZE|NODE_OPTIONS|NODE_COMPILE_CACHE|NODE_V8_COVERAGE)$/,
];

function pickEngineEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && ENGINE_VARIABLES.some((pattern) => pattern.test(name))) picked[name] = value;
  return picked;
}

/** Returns the name of this process for others that want to open the same store. */
export function ownerName(command: string): string {
  return `tailrace ${command} (pid ${process.pid})`;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

// One Ctrl-C arrives several times: from the terminal, from npm and from scripts/start.js. Repeats within this time are
// ignored.
const REPEAT_MS = 1_000;

/**
 * Returns a signal that aborts on SIGINT or SIGTERM, so that a command can finish its work. Another signal after a
 * second ends the process at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let firstMs: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstMs === undefined) {
      firstMs = performance.now();
      controller.abort(signal);
    } else if (performance.now() - firstMs > REPEAT_MS) {
      for (const one of SIGNALS) process.off(one, onSignal);
      process.kill(process.pid, signal); // without a listener the system ends the process
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return controller.signal;
}

/** Runs `work` on the keys of the settings, even while a service uses them. */
export async function withKeyring<T>(config: Config, work: (keyring: Keyring) => Promise<T>): Promise<T> {
  return await withControlStore(config, async (store) => {
    const secret = openTokenSecret(config.dataDir, config.tokenSecret);
    const tokens = createTokens({ secret, now: Date.now });
    return await work(createKeyring({ store, tokens, privateKey: '', publicKey: '', now: Date.now }));
  });
}

/** Runs `work` on the control store of the settings, even while a service uses it. */
export async function withControlStore<T>(
  config: Config,
  work: (store: ControlStore) => Promise<T>,
): Promise<T> {
  await using cleanup = new AsyncDisposableStack();
  const store = await openControlStore(config);
  cleanup.defer(store.close);
  return await work(store);
}
