import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../errors.ts';
import { describeSystemFailure, toStartError } from '../lib/system-failure.ts';

/** In the data directory. */
export const SECRET_FILE = 'token.secret';
const SECRET_BYTES = 32;

/**
 * Returns the secret that signs tokens: that of the settings, or one that is created once for the data directory, in a file that only
 * its owner can read. Deleting the file voids all tokens.
 *
 * @param setting empty if not set; the text of such a file is the same secret, so that tokens stay valid if the service moves
 * @throws InputError if the file cannot be read or created, TransientError if that may pass
 */
export function openTokenSecret(dataDir: string, setting: string): Uint8Array {
  if (setting !== '') return decodeFileText(setting) ?? Buffer.from(setting);
  const file = join(dataDir, SECRET_FILE);
  try {
    const secret = createSecret(file) ?? Buffer.from(readFileSync(file, 'utf8').trim(), 'base64url');
    if (secret.length === SECRET_BYTES) return secret;
  } catch (error) {
    throw toStartError(`the secret of tokens ${file} cannot be read: ${describeSystemFailure(error)}`, error);
  }
  throw new InputError([
    `the secret of tokens ${file} is damaged: it must hold ${SECRET_BYTES} bytes in base64url; delete it to get a new one, which voids all tokens`,
  ]);
}

/** @returns `undefined` if the text is not as `createSecret` writes it: other settings are secrets as they are */
function decodeFileText(text: string): Buffer | undefined {
  const secret = Buffer.from(text, 'base64url');
  return secret.length === SECRET_BYTES && secret.toString('base64url') === text ? secret : undefined;
}

/** @returns `undefined` if the file exists */
function createSecret(file: string): Buffer | undefined {
  const opened = openNew(file);
  if (opened === undefined) return undefined;
  const secret = randomBytes(SECRET_BYTES);
  try {
    writeFileSync(opened, `${secret.toString('base64url')}\n`, { flush: true });
    return secret;
  } catch (error) {
    rmSync(file, { force: true }); // on a full disk it is empty, which the next start would report as damaged
    throw error;
  } finally {
    closeSync(opened);
  }
}

/** @returns `undefined` if the file exists; after any other failure it may exist */
function openNew(file: string): number | undefined {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
}
