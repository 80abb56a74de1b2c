import { createContext, use } from 'react';
import type { Zone } from './format/time.ts';
import { FALLBACK, type Preference } from './stored-preference.ts';

interface PreferenceState {
  readonly preference: Preference;
  /** The displayed theme, with `system` resolved. */
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
