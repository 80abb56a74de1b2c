import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { InputError, messageOf } from '../errors.ts';

/** In the data directory. */
export const SECRET_FILE = 'token.secret';
const SECRET_BYTES = 32;

/**
 * The secret that signs tokens: the one of the settings, else one that is made once for the data directory, in a file that
 * only its owner can read. Without that file every token is void, and a new one begins.
 *
 * @param setting empty where there is none
 * @throws InputError when the file cannot be read or made
 */
export function openTokenSecret(dataDir: string, setting: string): Uint8Array {
  if (setting !== '') return Buffer.from(setting);
  const file = join(dataDir, SECRET_FILE);
  try {
    const made = createSecret(file);
    const secret = made ?? Buffer.from(readFileSync(file, 'utf8').trim(), 'base64url');
    if (secret.length === SECRET_BYTES) return secret;
  } catch (error) {
    throw new InputError([`the secret of tokens ${file} cannot be read: ${messageOf(error)}`], {
      cause: error,
    });
  }
  throw new InputError([
    `the secret of tokens ${file} is not whole; delete it for a new one, which makes the tokens of now void`,
  ]);
}

/** `undefined` where there is one already. */
function createSecret(file: string): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
  const secret = randomBytes(SECRET_BYTES);
  try {
    writeSync(descriptor, `${secret.toString('base64url')}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return secret;
}
