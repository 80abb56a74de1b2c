import { parseConfig } from '../../src/config/config.ts';
import { InputError } from '../../src/errors.ts';

/** What is wrong with the settings of an environment, a line for each. */
export function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof InputError) return error.faults;
    throw error;
  }
  return [];
}
