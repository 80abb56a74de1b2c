import { parseConfig } from '../../src/config/config.ts';
import { InputError } from '../../src/errors.ts';

/** The faults with which `work` is rejected; none if it is done. @throws any other error of it */
export async function faultsIn(work: () => unknown): Promise<readonly string[]> {
  try {
    await work();
  } catch (error) {
    if (error instanceof InputError) return error.faults;
    throw error;
  }
  return [];
}

/** What is wrong with the settings of an environment, a line for each. */
export function faultsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof InputError) return error.faults;
    throw error;
  }
  return [];
}
