import { useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';

/** Names of what a page has in its address beside parameters, whose names have no dots. */
export const OWN = 'ui.';

/** The query of the page's address, and what changes members of it; undefined removes one. */
export function usePageAddress() {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const query = useMemo(() => new URLSearchParams(search), [search]);
  const change = (
    members: Readonly<Record<string, string | undefined>>,
    options?: { readonly replace: boolean },
  ) => {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(members)) {
      if (value === undefined) next.delete(name);
      else next.set(name, value);
    }
    navigate(next.size === 0 ? path : `${path}?${next}`, options);
  };
  return { query, change };
}

/** The values of parameters in an address; those that it does not have are left out. */
export function valuesIn(
  query: URLSearchParams,
  parameters: readonly { readonly name: string }[],
): Record<string, string> {
  const given = parameters.map(({ name }) => [name, query.get(name)] as const);
  return Object.fromEntries(given.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}
