import { useCallback, useMemo } from 'react';
import type { ListPlace } from '../../ui/lines/use-place.ts';
import { type ExploreAddress, formatAddress } from './address.ts';

interface KeptPlace {
  /** Where the list was when this entry of the history was left; undefined for a new one, and once it is read again. */
  readonly place: ListPlace | undefined;
  readonly keep: (place: ListPlace) => void;
}

/** Keeps the place of the list with the entry of the browser's history, so that going back returns to it. @param round of the reads */
export function useListPlace(address: ExploreAddress, round: number): KeptPlace {
  // What only changes how lines are shown replaces the entry, and the lines stay.
  const { q, source, project, range, from, until, at } = address;
  const searched = formatAddress({ q, source, project, range, from, until, at });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each search, before anything is kept
  const found = useMemo(() => ({ place: readPlace(), round }), [searched]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another search is another entry
  const keep = useCallback(
    (place: ListPlace) => history.replaceState({ ...history.state, place }, ''),
    [searched],
  );
  return { place: found.round === round && at === '' ? found.place : undefined, keep };
}

function readPlace(): ListPlace | undefined {
  const { place } = (history.state ?? {}) as { readonly place?: ListPlace }; // only `keep` writes it
  return place;
}
