import { type Command, InvalidArgumentError } from 'commander';
import { InputError } from '../errors.ts';

/** A running service, for commands that ask it in place of opening the store that it owns. */
export interface Remote {
  /** Such as http://127.0.0.1:4000; a path in it, as behind a proxy, is kept. */
  readonly url: string;
  readonly key: string;
}

export interface RemoteOptions {
  readonly url?: string;
  readonly key?: string;
}

/**
 * Gives a command `--url` and `--key`.
 *
 * @param about what `--url` does, for the help
 * @param scope that the key needs
 */
export function addRemoteOptions(command: Command, about: string, scope: string): Command {
  return command
    .option('--url <url>', about, parseUrl)
    .option('--key <key>', `key for --url, with the scope ${scope} (default: TAILRACE_KEY)`);
}

/** The service that the options name; `undefined` without `--url`. @throws InputError without a key for it */
export function findRemote({ url, key = process.env['TAILRACE_KEY'] }: RemoteOptions): Remote | undefined {
  if (url === undefined) return undefined;
  if (key !== undefined) return { url, key };
  throw new InputError(['--url needs a key: give --key or set TAILRACE_KEY']);
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:4000.');
}
