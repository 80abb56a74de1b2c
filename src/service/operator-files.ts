import { stat } from 'node:fs/promises';
import type { Receiver } from '../alerts/receivers/receiver.ts';
import { verifyReceivers } from '../alerts/verify.ts';
import type { Config } from '../config/config.ts';
import type { Definitions } from '../definitions/read.ts';
import { formatFault, InputError } from '../errors.ts';
import { NO_QUOTAS, readQuotas } from '../ingest/usage.ts';
import type { Roles } from '../people/role.ts';
import { readRoles } from '../people/roles-file.ts';
import type { Companion } from './open-core.ts';

/** The operator's files, which are reloaded with the definitions. */
export type OperatorFiles = ReturnType<typeof createOperatorFiles>;

/** @param environment values for `${NAME}` in the file of the receivers */
export function createOperatorFiles(
  config: Pick<Config, 'receiversFile' | 'quotasFile' | 'rolesFile'>,
  environment: Environment = {},
) {
  const receivers = createReceivers(config, environment);
  const quotas = createOperatorFile(config.quotasFile, NO_QUOTAS, () => readQuotas(config.quotasFile));
  const roles = createRoles(config);
  const read: Companion = async (definitions) => {
    const all = await Promise.all([receivers, quotas, roles].map((file) => file.read(definitions)));
    return {
      faults: all.flatMap(({ faults }) => faults),
      take() {
        for (const { take } of all) take();
      },
    };
  };
  return { receivers, quotas, roles, read };
}

/** A file of the operator, as of the last reload in which neither it nor a definition had a fault. */
interface OperatorFile<Content> {
  current(): Content;
  /** Reads the file with the definitions: a reload that either of them fails changes neither. */
  readonly read: Companion;
  set(content: Content): void;
  /** @param listener called at once, and after each reading that counts */
  onTaken(listener: (content: Content) => void): void;
}

/**
 * @param none the content before the first reading, and without a file
 * @param readContent throws an InputError with the faults
 */
function createOperatorFile<Content>(
  path: string,
  none: Content,
  readContent: (definitions: Definitions) => Promise<Content>,
): OperatorFile<Content> {
  let current = none;
  const listeners: ((content: Content) => void)[] = [];
  const set = (next: Content) => {
    current = next;
    for (const listener of listeners) listener(next);
  };
  return {
    current: () => current,
    set,
    async read(definitions) {
      if (path === '') return { faults: [], take() {} };
      try {
        const next = await readContent(definitions);
        return { faults: [], take: () => set(next) };
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

/** Values for `${NAME}` in the file of the receivers. */
type Environment = Readonly<Record<string, string | undefined>>;

/** A warning, if there are alerts. */
export const NO_RECEIVERS_FILE = 'alerts are not sent: TAILRACE_RECEIVERS_FILE is not set';

/** The receivers, by name. */
function createReceivers({ receiversFile }: Pick<Config, 'receiversFile'>, environment: Environment) {
  const none: ReadonlyMap<string, Receiver> = new Map();
  const file = createOperatorFile(receiversFile, none, async ({ alerts }) => {
    // Its libraries are loaded only if they are used.
    const { readReceivers } = await import('../alerts/receivers/receivers-file.ts');
    const next = await readReceivers(receiversFile, { environment });
    const faults = verifyReceivers(alerts, new Set(next.keys())).map(formatFault);
    if (faults.length > 0) throw new InputError(faults);
    return next;
  });
  return { ...file, names: (): ReadonlySet<string> => new Set(file.current().keys()) };
}

/** The roles of people who sign in. */
function createRoles({ rolesFile }: Pick<Config, 'rolesFile'>) {
  const none: Roles & { readonly version?: string | undefined } = { roles: [], isBroken: false };
  const file = createOperatorFile(rolesFile, none, async (definitions) => {
    const version = await findVersion(rolesFile); // before it is read: a later change is followed
    return { ...none, roles: await readRoles(rolesFile, definitions), version };
  });
  return {
    ...file,
    /**
     * Reads the file if it has changed since: a right that is taken away must not wait for a reload. A fault then
     * takes away all of them.
     * @returns lines of faults, once; `undefined` if nothing has changed
     */
    async follow(definitions: Definitions): Promise<readonly string[] | undefined> {
      const version = await findVersion(rolesFile);
      if (version === file.current().version) return undefined;
      const { faults, take } = await file.read(definitions);
      if (faults.length === 0) take();
      else file.set({ roles: [], isBroken: true, version });
      return faults;
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
