import { createHash, hash } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findBelow } from '../../lib/below.ts';

/** A file as the manifest describes it. */
export interface CopiedFile {
  readonly bytes: number;
  readonly sha256: string;
}

export interface CopiedPart extends CopiedFile {
  /** SHA-256 of the engine's list of checksums. */
  readonly content: string;
}

export interface CopyOptions {
  /** Aborts between two blocks. */
  readonly signal?: AbortSignal;
  readonly onBytes?: (bytes: number) => void;
}

/** Reports the progress of several copies together. @param total bytes of all of them */
export function countBytes(total: number, onProgress: (bytes: number, total: number) => void) {
  let bytes = 0;
  return (more: number): void => {
    bytes += more;
    onProgress(bytes, total);
  };
}

const BLOCK_BYTES = 1024 * 1024;
const CHECKSUMS_FILE = 'checksums.txt';

/** Copies a file to a new one that only its owner can read; synced to disk when it resolves. */
export async function copyFile(
  from: string,
  to: string,
  { signal, onBytes }: CopyOptions = {},
): Promise<CopiedFile> {
  await using source = await open(from, 'r');
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await using target = await open(to, 'wx', 0o600);
  const sha256 = createHash('sha256');
  const { size } = await source.stat();
  const block = Buffer.allocUnsafe(Math.min(Math.max(size, 1), BLOCK_BYTES));
  let bytes = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await source.read(block);
    if (bytesRead === 0) break;
    sha256.update(block.subarray(0, bytesRead));
    await target.writeFile(block.subarray(0, bytesRead)); // appends after the last block
    bytes += bytesRead;
    onBytes?.(bytesRead);
  }
  await target.sync();
  return { bytes, sha256: sha256.digest('hex') };
}

// Most of the time goes into waiting for syncs, so files are copied concurrently.
const FILES_AT_ONCE = 8;

/** Copies the folder of a part. */
export async function copyPart(from: string, to: string, options: CopyOptions): Promise<CopiedPart> {
  const names = await listFiles(from);
  const sums: string[] = [];
  let bytes = 0;
  let content = '';
  for (let at = 0; at < names.length; at += FILES_AT_ONCE) {
    const some = names.slice(at, at + FILES_AT_ONCE);
    const copied = await Promise.allSettled(
      some.map(async (name) => {
        const source = await findBelow(from, name);
        return { name, ...(await copyFile(source, join(to, name), options)) };
      }),
    );
    for (const one of copied) {
      if (one.status === 'rejected') throw one.reason; // all others have settled by now
      const file = one.value;
      if (file.name === CHECKSUMS_FILE) content = file.sha256;
      sums.push(`${file.name}\0${file.sha256}\n`);
      bytes += file.bytes;
    }
  }
  return { bytes, content, sha256: hash('sha256', sums.join('')) };
}

/** Creates hard links to the files of an existing part. */
export async function linkPart(from: string, to: string): Promise<void> {
  for (const name of await listFiles(from)) {
    await mkdir(dirname(join(to, name)), { recursive: true, mode: 0o700 });
    await link(await findBelow(from, name), join(to, name));
  }
}

/** Reads a file's size and hash. */
export async function describeFile(file: string): Promise<CopiedFile> {
  const bytes = await readFile(file);
  return { bytes: bytes.length, sha256: hash('sha256', bytes) };
}

/** See `CopiedPart.content`. */
export async function readContent(part: string): Promise<string> {
  return hash('sha256', await readFile(join(part, CHECKSUMS_FILE)));
}

/** Reads the number of rows of a part, which the engine writes beside it. */
export async function readRows(part: string): Promise<number> {
  return Number(await readFile(join(part, 'count.txt'), 'utf8'));
}

/** Adds up the bytes of all files in a folder. */
export async function measure(dir: string): Promise<number> {
  let bytes = 0;
  for (const name of await listFiles(dir)) bytes += (await stat(join(dir, name))).size;
  return bytes;
}

/** Lists the paths of all files below a folder, sorted; follows links, except one to a folder that it lies in. */
export async function listFiles(dir: string, within = '', above: readonly string[] = []): Promise<string[]> {
  const own = await realpath(join(dir, within));
  if (above.includes(own)) return [];
  const files: string[] = [];
  for (const name of (await readdir(own)).toSorted()) {
    const path = join(within, name);
    const isFolder = (await stat(join(dir, path))).isDirectory();
    files.push(...(isFolder ? await listFiles(dir, path, [...above, own]) : [path]));
  }
  return files;
}
