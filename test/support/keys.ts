import { TailraceError } from '../../src/errors.ts';
import { openControlStore } from '../../src/keys/control-store.ts';
import { createKeyring } from '../../src/keys/keyring.ts';
import { createTokens } from '../../src/keys/token.ts';

/** A keyring on a store of its own in `dir`, with a clock that stands still until it is set. */
export function openTestKeyring(dir: string, environment: { privateKey?: string; publicKey?: string } = {}) {
  const store = openControlStore(dir);
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
  return { dir, store, clock, tokens, keyring };
}

/** What `work` is refused with. */
export function refusalOf(work: () => unknown): TailraceError {
  try {
    work();
  } catch (error) {
    if (error instanceof TailraceError) return error;
    throw error;
  }
  throw new Error('it should have been refused');
}
