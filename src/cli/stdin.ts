import { PassThrough, type Readable } from 'node:stream';
import { InputError } from '../errors.ts';

/**
 * Standard input as a stream.
 *
 * @param signal ends the stream, also while it waits for bytes
 */
export function openStdin(signal: AbortSignal): Readable {
  const { stdin } = process;
  const bytes = new PassThrough();
  stdin.once('error', (cause) =>
    bytes.destroy(new InputError([`standard input cannot be read: ${cause.message}`], { cause })),
  );
  const stop = () => {
    stdin.unpipe(bytes);
    bytes.end();
  };
  signal.addEventListener('abort', stop, { once: true });
  bytes.once('close', () => stdin.destroy()); // it would keep this process waiting after the reader has given up
  return stdin.pipe(bytes);
}
