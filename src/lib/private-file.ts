import { closeSync, fchmodSync, openSync } from 'node:fs';

/**
 * Makes a file that its owner alone can read, before anything is written into it; takes the rights of others from one that is
 * there, as a restored backup may be. What SQLite puts beside its file gets the same rights.
 */
export function makePrivateFile(file: string): void {
  const descriptor = openSync(file, 'a', 0o600);
  try {
    fchmodSync(descriptor, 0o600);
  } finally {
    closeSync(descriptor);
  }
}
