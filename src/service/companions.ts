import type { Config } from '../config/config.ts';
import { InputError } from '../errors.ts';
import { NO_QUOTAS, type Quotas, readQuotas } from '../ingest/usage/quota.ts';
import type { Companion } from './open-core.ts';
import { createReceivers } from './receivers.ts';
import { createRolesReader } from './roles.ts';

/** The quotas of the operator's file, as of the last reload in which neither it nor a definition had a fault. */
export interface QuotasReader {
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

const NOTHING_READ = { faults: [], take() {} };

/** The operator's files that are reloaded with the definitions. @param environment values for `${NAME}` in the file of the receivers */
export function createCompanions(
  config: Pick<Config, 'receiversFile' | 'quotasFile' | 'rolesFile'>,
  environment: Parameters<typeof createReceivers>[1] = {},
) {
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
