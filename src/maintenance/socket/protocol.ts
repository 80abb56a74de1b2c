import { chmodSync, closeSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolder } from '../../lib/folder.ts';

/** The commands of the service. */
export const COMMANDS = {
  describe: '/describe',
  snapshot: '/snapshot',
  count: '/deletions/count',
  delete: '/deletions',
  testAlert: '/alerts/test',
  reload: '/reload',
  stop: '/stop',
} as const;

/** One line of a response, as JSON: any number of `progress`, then one of the others. */
export type Line =
  | { readonly progress: unknown }
  | { readonly done: unknown }
  | { readonly error: CommandFailure };

export interface CommandFailure {
  /** Lines of an InputError. */
  readonly faults?: readonly string[];
  /** Code of a TailraceError. */
  readonly code?: string;
  readonly message: string;
}

// In the data directory. Only its owner can enter the folder, who could change the files beside it anyway, so no key is needed.
const FOLDER = 'local';
const FILE = 'service.sock';
// The operating systems' limit for the address of a socket, without the NUL at its end.
const PATH_BYTES_MAX = 103;

export interface SocketPath {
  readonly path: string;
  /** Call it when the address is no longer used. */
  release(): void;
}

export function createSocketFolder(dataDir: string): void {
  const folder = join(dataDir, FOLDER);
  makeFolder(folder, 0o700);
  chmodSync(folder, 0o700); // also an existing one, such as after a restored backup
}

/**
 * Returns the address of the socket of a data directory. If it is too long, it goes through the open folder, as Linux allows.
 *
 * @throws Error if there is no such folder
 */
export function openSocketPath(dataDir: string): SocketPath {
  const folder = join(resolve(dataDir), FOLDER);
  const path = join(folder, FILE);
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return { path, release() {} };
  const descriptor = openSync(folder, 'r');
  return { path: `/proc/self/fd/${descriptor}/${FILE}`, release: () => closeSync(descriptor) };
}
