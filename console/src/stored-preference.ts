import type { Zone } from './format/time.ts';

export type Theme = 'system' | 'light' | 'dark';

/** The preferences of the user, stored in the browser. */
export interface Preference {
  readonly zone: Zone;
  readonly theme: Theme;
}

const NAME = 'tailrace.preference';
export const FALLBACK: Preference = { zone: 'local', theme: 'system' };

export function readPreference(): Preference {
  try {
    const { zone, theme } = JSON.parse(localStorage.getItem(NAME) ?? '{}') as Partial<Preference>;
    return {
      zone: zone === 'utc' ? 'utc' : FALLBACK.zone,
      theme: theme === 'light' || theme === 'dark' ? theme : FALLBACK.theme,
    };
  } catch {
    return FALLBACK;
  }
}

/** Stores and applies a preference. */
export function applyPreference(preference: Preference): void {
  localStorage.setItem(NAME, JSON.stringify(preference));
  const { theme } = preference;
  const dark = theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}
