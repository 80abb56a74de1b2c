import type { SourceState } from '../../../../src/management/admin-view.ts';
import type { SourceView } from '../../../../src/management/view.ts';
import { type ApiError, useClient } from '../../api/client.ts';
import { queries, sourcesOf, useOverview, useRead } from '../../api/queries.ts';

export interface Sources {
  readonly sources: readonly SourceView[] | undefined;
  /** The state of a source; `undefined` for keys without `manage`, and before it has been read. */
  readonly stateOf: (name: string) => SourceState | undefined;
  readonly mayWatch: boolean;
  /** When the numbers were read; ms since the epoch. */
  readonly nowMs: number;
  readonly error: ApiError | undefined;
}

/** The sources that the key may see, with live numbers if it has `manage`. */
export function useSources(): Sources {
  const mayWatch = useClient().self.scopes.includes('manage');
  const definitions = useRead(queries.sources);
  const live = useOverview();
  return {
    sources: definitions.value && sourcesOf(definitions.value),
    stateOf: (name) => live.value?.sources.find((one) => one.name === name),
    mayWatch,
    nowMs: live.value === undefined ? Date.now() : Date.parse(live.value.at),
    error: definitions.error ?? live.error,
  };
}
