import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** In the data directory: what only its owner can enter, so that whoever reaches the socket may do everything there anyway. */
const FOLDER = 'local';
const FILE = 'service.sock';
// What the operating systems take for the address of a socket, less the NUL at its end.
const PATH_BYTES_MAX = 103;

export interface SocketPath {
  readonly path: string;
  /** To be called when the address is not used any more. */
  release(): void;
}

/** Makes the folder of the socket. */
export function makeSocketFolder(dataDir: string): void {
  const folder = join(dataDir, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700); // also one that was there, as after a restored backup
}

/**
 * The address of the socket of a data directory. A long one goes by the open folder, as Linux names it.
 *
 * @throws Error where there is no such folder
 */
export function openSocketPath(dataDir: string): SocketPath {
  const folder = join(resolve(dataDir), FOLDER);
  const path = join(folder, FILE);
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return { path, release() {} };
  const descriptor = openSync(folder, 'r');
  return { path: `/proc/self/fd/${descriptor}/${FILE}`, release: () => closeSync(descriptor) };
}
