import type { Receiver } from '../alerts/receivers/receiver.ts';
import { verifyReceivers } from '../alerts/verify.ts';
import type { Config } from '../config/config.ts';
import { formatFault } from '../definitions/fault.ts';
import { InputError } from '../errors.ts';
import type { Companion } from './open-core.ts';

/** Values for `${NAME}` in the file of the receivers. */
type Environment = Readonly<Record<string, string | undefined>>;

/** The receivers of the operator's file, as of the last reload in which neither it nor a definition had a fault. */
export interface Receivers {
  current(): ReadonlyMap<string, Receiver>;
  names(): ReadonlySet<string>;
  /** Reads the file again, and checks the names in alerts. A receiver whose entry has not changed stays the same object. */
  readonly read: Companion;
  /** @param listener called after each reading that counts */
  onTaken(listener: () => void): void;
}

/** A warning, if there are alerts. */
export const NO_RECEIVERS_FILE = 'alerts are not sent: TAILRACE_RECEIVERS_FILE is not set';

/** There are none until they have been read, and without a file. */
export function createReceivers(
  { receiversFile }: Pick<Config, 'receiversFile'>,
  environment: Environment,
): Receivers {
  let current: ReadonlyMap<string, Receiver> = new Map();
  let names: ReadonlySet<string> = new Set();
  const listeners: (() => void)[] = [];

  async function readFile(): Promise<ReadonlyMap<string, Receiver>> {
    const { readReceivers } = await import('../alerts/receivers/receivers-file.ts'); // its libraries are loaded only if they are used
    return await readReceivers(receiversFile, { environment, known: current });
  }

  return {
    current: () => current,
    names: () => names,
    async read({ alerts = [] }) {
      if (receiversFile === '') return { faults: [], take() {} };
      try {
        const next = await readFile();
        const nextNames = new Set(next.keys());
        const take = () => {
          current = next;
          names = nextNames;
          for (const listener of listeners) listener();
        };
        return { faults: verifyReceivers(alerts, nextNames).map(formatFault), take };
      } catch (error) {
        if (error instanceof InputError) return { faults: error.faults, take() {} };
        throw error;
      }
    },
    onTaken: (listener) => void listeners.push(listener),
  };
}
