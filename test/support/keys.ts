import { TailraceError } from '../../src/errors.ts';
import type { ControlStore } from '../../src/keys/control-store.ts';
import { createKeyring } from '../../src/keys/keyring.ts';
import { openSqliteStore } from '../../src/keys/sqlite-store.ts';
import { createTokens } from '../../src/keys/token.ts';

interface Environment {
  readonly privateKey?: string;
  readonly publicKey?: string;
}

/** A keyring on a store, with a clock that stands still until it is set. */
export function createTestKeyring(store: ControlStore, environment: Environment = {}) {
  const clock = { now: 1_000_000 };
  const tokens = createTokens({ secret: new Uint8Array(32), now: () => clock.now });
  const keyring = createKeyring({
    store,
    privateKey: '',
    publicKey: '',
    tokens,
    now: () => clock.now,
    ...environment,
  });
  return { store, clock, tokens, keyring };
}

/** The same on a store of its own in `dir`. */
export function openTestKeyring(dir: string, environment?: Environment) {
  return { dir, ...createTestKeyring(openSqliteStore(dir), environment) };
}

/** What `work` is rejected with. */
export function errorOf(work: () => unknown): TailraceError {
  try {
    work();
  } catch (error) {
    if (error instanceof TailraceError) return error;
    throw error;
  }
  throw new Error('it should have been rejected');
}

/** The same of work that takes its time, unless it is done. */
export async function rejectionOf(work: unknown): Promise<TailraceError> {
  const outcome = await Promise.resolve(work).then(
    () => undefined,
    (error: unknown) => error,
  );
  return errorOf(() => {
    if (outcome !== undefined) throw outcome;
  });
}
