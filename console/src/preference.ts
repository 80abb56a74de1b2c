import { createContext, use } from 'react';
import type { Zone } from './format/time.ts';

export type Theme = 'system' | 'light' | 'dark';

/** How somebody likes the console; kept in the browser. */
export interface Preference {
  readonly zone: Zone;
  readonly theme: Theme;
}

const NAME = 'tailrace.preference';
const FALLBACK: Preference = { zone: 'local', theme: 'system' };

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

/** Keeps it and puts it into effect. */
export function applyPreference(preference: Preference): void {
  localStorage.setItem(NAME, JSON.stringify(preference));
  document.documentElement.dataset['theme'] = isDark(preference.theme) ? 'dark' : 'light';
}

function isDark(theme: Theme): boolean {
  return theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
}

interface PreferenceState {
  readonly preference: Preference;
  /** What is really shown, `system` resolved. */
  readonly shown: 'light' | 'dark';
  change(change: Partial<Preference>): void;
}

export const PreferenceContext = createContext<PreferenceState>({
  preference: FALLBACK,
  shown: 'light',
  change: () => {},
});

export function usePreference(): PreferenceState {
  return use(PreferenceContext);
}

export function useZone(): Zone {
  return usePreference().preference.zone;
}
