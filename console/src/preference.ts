import { createContext, use } from 'react';
import type { Zone } from './format/show.ts';

interface Preference {
  readonly zone: Zone;
  readonly theme: 'system' | 'light' | 'dark';
  /** Lines of events: long messages go on in further lines. */
  readonly wrap: boolean;
  /** Widths of columns of lines that were changed, in rem, by name. */
  readonly widths: Readonly<Record<string, number>>;
}

const NAME = 'tailrace.preference';
const FALLBACK: Preference = { zone: 'local', theme: 'system', wrap: false, widths: {} };

export function readPreference(): Preference {
  const stored = JSON.parse(localStorage.getItem(NAME) ?? '{}') as Partial<Preference>; // only applyPreference writes it
  return { ...FALLBACK, ...stored };
}

export function applyPreference(preference: Preference): void {
  localStorage.setItem(NAME, JSON.stringify(preference));
  const { theme } = preference;
  const dark = theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}

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
