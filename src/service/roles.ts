import { stat } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import type { Definitions } from '../definitions/read.ts';
import { InputError } from '../errors.ts';
import type { Role, Roles } from '../people/role.ts';
import { readRoles } from '../people/roles-file.ts';
import type { Companion } from './open-core.ts';

export interface RolesReader {
  current(): Roles;
  /** Reads the file with the definitions: a reload that either of them fails changes neither. */
  readonly read: Companion;
  /**
   * Reads the file if it has changed since: a right that is taken away must not wait for a reload. A fault then takes away all of them.
   *
   * @returns lines of faults, once; `undefined` if nothing has changed
   */
  follow(definitions: Definitions): Promise<readonly string[] | undefined>;
}

/** The roles of the operator's file. There are none until it has been read, and without a file. */
export function createRolesReader({ rolesFile }: Pick<Config, 'rolesFile'>): RolesReader {
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
      if (rolesFile === '') return { faults: [], take() {} };
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
