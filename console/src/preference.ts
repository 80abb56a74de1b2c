import { createContext, use, useEffect, useState } from 'react';
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
  try {
    const stored = JSON.parse(localStorage.getItem(NAME) ?? '{}') as Partial<Preference>; // of applyPreference
    return { ...FALLBACK, ...stored };
  } catch {
    return FALLBACK; // the console starts without what it cannot read
  }
}

export function applyPreference(preference: Preference): void {
  localStorage.setItem(NAME, JSON.stringify(preference));
  const { theme } = preference;
  const dark = theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}

type PreferenceState = ReturnType<typeof usePreferences>;

export const PreferenceContext = createContext<PreferenceState>(undefined as never); // the app is around all that use it

/** The preferences of this browser, for the context. */
export function usePreferences() {
  const [preference, setPreference] = useState(readPreference);
  const change = (part: Partial<Preference>) => {
    const next = { ...preference, ...part };
    applyPreference(next);
    setPreference(next);
  };
  useEffect(() => {
    // The system's own choice may change while the page is open.
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const onChange = () => change({});
    dark.addEventListener('change', onChange);
    return () => dark.removeEventListener('change', onChange);
  });
  /** The displayed theme, with `system` resolved. */
  const shown = document.documentElement.dataset['theme'] === 'dark' ? 'dark' : 'light';
  return { preference, shown, change };
}

export function usePreference(): PreferenceState {
  return use(PreferenceContext);
}

export function useZone(): Zone {
  return usePreference().preference.zone;
}
