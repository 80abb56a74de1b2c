import { useClient } from '../../api/client.ts';
import { queries, sourcesOf, useOverview, useRead } from '../../api/queries.ts';

/** The sources that the key may see, with live numbers if it has `manage`. */
export function useSources() {
  const mayWatch = useClient().self.scopes.includes('manage');
  const definitions = useRead(queries.sources);
  const live = useOverview();
  return {
    sources: definitions.value && sourcesOf(definitions.value),
    /** The state of a source; `undefined` for keys without `manage`, and before it has been read. */
    stateOf: (name: string) => live.value?.sources.find((one) => one.name === name),
    mayWatch,
    /** When the numbers were read; ms since the epoch. */
    nowMs: live.value === undefined ? Date.now() : Date.parse(live.value.at),
    error: definitions.error ?? live.error,
  };
}
