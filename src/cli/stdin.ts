import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { PassThrough, type Readable } from 'node:stream';
import { InputError } from '../errors.ts';

/**
 * Puts the null device in the place of standard input. The embedded engine reads descriptor 0 of its process whenever it
 * inserts: bytes that wait there make the insert fail, and are lost to whoever they were meant for.
 */
export function detachStdin(): void {
  closeSync(0);
  openSync(devNull, 'r'); // the lowest free descriptor: 0
}

/**
 * Standard input as a stream, detached. `cat` inherits it, which works for files, pipes, sockets and terminals alike; Node
 * itself cannot give a descriptor another number.
 *
 * @param signal ends the stream, also while it waits for bytes
 */
export function takeStdin(signal: AbortSignal): Readable {
  const cat = spawn('cat', { stdio: ['inherit', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => {
    cat.once('error', () => resolve(-1));
    cat.once('close', resolve);
  });
  signal.addEventListener('abort', () => cat.kill(), { once: true });
  detachStdin();
  const bytes = new PassThrough({
    flush(done) {
      void ended.then((code) =>
        done(code === 0 || signal.aborted ? null : new InputError(['standard input cannot be read'])),
      );
    },
  });
  bytes.once('close', () => cat.kill()); // it would wait for bytes, and this process for it, after the reader has given up
  // Read from the first moment: when a child has ended, Node throws away what nobody has begun to read.
  return cat.stdout.pipe(bytes);
}
