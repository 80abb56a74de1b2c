import { stat } from 'node:fs/promises';
import type { Receiver } from '../alerts/receivers/receiver.ts';
import { verifyReceivers } from '../alerts/verify.ts';
import type { Config } from '../config/config.ts';
import { formatFault } from '../definitions/fault.ts';
import type { Definitions } from '../definitions/read.ts';
import { InputError } from '../errors.ts';
import { NO_QUOTAS, type Quotas, readQuotas } from '../ingest/usage/quota.ts';
import type { Role, Roles } from '../people/role.ts';
import { readRoles } from '../people/roles-file.ts';
import type { Companion } from './open-core.ts';

/** The operator's files, which are reloaded with the definitions. */
export interface OperatorFiles {
  readonly receivers: Receivers;
  readonly quotas: QuotasReader;
  readonly roles: RolesReader;
  /** Reads all of them. */
  readonly read: Companion;
}

/** @param environment values for `${NAME}` in the file of the receivers */
export function createOperatorFiles(
  config: Pick<Config, 'receiversFile' | 'quotasFile' | 'rolesFile'>,
  environment: Environment = {},
): OperatorFiles {
  const receivers = createReceivers(config, environment);
  const quotas = createQuotasReader(config);
  const roles = createRolesReader(config);
  return { receivers, quotas, roles, read: joinCompanions(receivers.read, quotas.read, roles.read) };
}

function joinCompanions(...companions: readonly Companion[]): Companion {
  return async (definitions) => {
    const read = await Promise.all(companions.map((companion) => companion(definitions)));
    return {
      faults: read.flatMap(({ faults }) => faults),
      take() {
        for (const { take } of read) take();
      },
    };
  };
}

const NOTHING_READ = { faults: [], take() {} };

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
function createReceivers(
  { receiversFile }: Pick<Config, 'receiversFile'>,
  environment: Environment,
): Receivers {
  let current: ReadonlyMap<string, Receiver> = new Map();
  let names: ReadonlySet<string> = new Set();
  const listeners: (() => void)[] = [];

  async function readFile(): Promise<ReadonlyMap<string, Receiver>> {
    // Its libraries are loaded only if they are used.
    const { readReceivers } = await import('../alerts/receivers/receivers-file.ts');
    return await readReceivers(receiversFile, { environment, known: current });
  }

  return {
    current: () => current,
    names: () => names,
    async read({ alerts = [] }) {
      if (receiversFile === '') return NOTHING_READ;
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

interface RolesReader {
  current(): Roles;
  /** Reads the file with the definitions: a reload that either of them fails changes neither. */
  readonly read: Companion;
  /**
   * Reads the file if it has changed since: a right that is taken away must not wait for a reload. A fault then takes away
   * all of them.
   *
   * @returns lines of faults, once; `undefined` if nothing has changed
   */
  follow(definitions: Definitions): Promise<readonly string[] | undefined>;
}

/** The roles of the operator's file. There are none until it has been read, and without a file. */
function createRolesReader({ rolesFile }: Pick<Config, 'rolesFile'>): RolesReader {
  let current: Roles = { roles: [], isBroken: false };
  let version: string | undefined;

  const take = (roles: readonly Role[], isBroken = false) => {
    current = { roles, isBroken };
  };

  async function readFile(
    definitions: Definitions,
  ): Promise<readonly Role[] | { readonly faults: readonly string[] }> {
    try {
      return await readRoles(rolesFile, definitions);
    } catch (error) {
      if (error instanceof InputError) return { faults: error.faults };
      throw error;
    }
  }

  return {
    current: () => current,
    async read(definitions) {
      if (rolesFile === '') return NOTHING_READ;
      const found = await findVersion(rolesFile);
      const read = await readFile(definitions);
      if ('faults' in read) return { faults: read.faults, take() {} };
      return {
        faults: [],
        take() {
          version = found;
          take(read);
        },
      };
    },
    async follow(definitions) {
      if (rolesFile === '') return undefined;
      const found = await findVersion(rolesFile);
      if (found === version) return undefined;
      const read = await readFile(definitions);
      version = found;
      if ('faults' in read) take([], true);
      else take(read);
      return 'faults' in read ? read.faults : [];
    },
  };
}

/** Changes with the file, whether it is written in place or replaced. */
async function findVersion(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found === undefined
    ? 'missing'
    : [found.ino, found.size, found.mtimeNs, found.ctimeNs, found.mode].join();
}

/** The quotas of the operator's file, as of the last reload in which neither it nor a definition had a fault. */
interface QuotasReader {
  readonly read: Companion;
  /** @param listener called at once, and after each reading that counts */
  onTaken(listener: (quotas: Quotas) => void): void;
}

/** There are none until they have been read, and without a file. */
function createQuotasReader({ quotasFile }: Pick<Config, 'quotasFile'>): QuotasReader {
  let current = NO_QUOTAS;
  const listeners: ((quotas: Quotas) => void)[] = [];
  return {
    async read() {
      if (quotasFile === '') return NOTHING_READ;
      try {
        const next = await readQuotas(quotasFile);
        const take = () => {
          current = next;
          for (const listener of listeners) listener(next);
        };
        return { faults: [], take };
      } catch (error) {
        if (error instanceof InputError) return { faults: error.faults, take() {} };
        throw error;
      }
    },
    onTaken(listener) {
      listeners.push(listener);
      listener(current);
    },
  };
}
