import { findUnknownSettings, parseConfig } from '../../src/config/config.ts';
import { SETTINGS, type Setting } from '../../src/config/settings.ts';
import { InputError } from '../../src/errors.ts';

type Environment = Readonly<Record<string, string>>;

/** What Tailrace would say of an environment at start: variables that are no settings, and values that are wrong. */
export function findSettingFaults(env: Environment): string[] {
  const faults = findUnknownSettings(env).map((name) => `${name} is not a setting`);
  try {
    parseConfig(env);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    faults.push(...error.faults);
  }
  return faults;
}

/** Whether a variable is a setting that is never shown, so that no file may hold its value. */
export function isSecretSetting(name: string): boolean {
  const secrets = Object.values<Setting<unknown>>(SETTINGS).filter((one) => one.secret);
  return secrets.some(({ env, aliases }) => [env, ...aliases].includes(name));
}
