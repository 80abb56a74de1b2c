import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { type ExploreAddress, explorePath, parseAddress } from './address.ts';

/** What another search is: it adds a history entry, so the back button returns to the one before. */
const SEARCHED: readonly (keyof ExploreAddress)[] = [
  'q',
  'source',
  'project',
  'range',
  'from',
  'until',
  'at',
];

/** Each other property: of how the same search is shown. */
export function isSearch(change: Partial<ExploreAddress>): boolean {
  return SEARCHED.some((name) => name in change);
}

/** The address of the page, and a function that changes it. A line to mark belongs to one search: another one has none. */
export function useAddress(): [ExploreAddress, (change: Partial<ExploreAddress>) => void] {
  const search = useSearch();
  const [, navigate] = useLocation();
  const address = useMemo(() => parseAddress(search), [search]);
  const change = useCallback(
    (part: Partial<ExploreAddress>) => {
      const isOther = isSearch(part);
      const next = { ...address, ...(isOther && { at: '' }), ...part };
      navigate(explorePath(next), { replace: !isOther });
    },
    [address, navigate],
  );
  return [address, change];
}
