import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SavedEndpoint } from '../../../../src/management/workbench-view.ts';
import { type ApiError, useClient } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';

/** Definitions that the workbench saves: the part of their paths in the API. */
export type DefinitionKind = 'endpoints' | 'alerts' | 'dashboards' | 'searches';

/** The path of something that is done with the texts of a definition. */
export function actionPath(kind: DefinitionKind, action: 'check' | 'save'): string {
  return `/api/workbench/${kind === 'endpoints' ? '' : `${kind}/`}${action}`;
}

/** The path of what a definition's files are now. */
export function filesPath(kind: DefinitionKind, name: string): string {
  return `/api/workbench/${kind}/${encodeURIComponent(name)}`;
}

interface SentFile {
  readonly name: string;
  readonly definition: string;
  /** null: a new file. */
  readonly version: string | null;
  /** Of endpoints. */
  readonly sql?: string;
  readonly test?: string;
}

/** `tests`: those of an endpoint, which ran. */
type Saved = Pick<SavedEndpoint, 'name' | 'version'> & Partial<Pick<SavedEndpoint, 'tests'>>;

export interface Saving {
  /** @param onSaved is not called if the part of the page has gone meanwhile */
  readonly save: (sent: SentFile, onSaved: (saved: Saved) => void) => void;
  readonly busy: boolean;
  readonly error: ApiError | undefined;
  readonly saved: Saved | undefined;
  readonly reset: () => void;
}

/** Saves the file of a definition, or the files of an endpoint. @param before saves what it needs */
export function useSaveFile(kind: DefinitionKind, before?: () => Promise<void>): Saving {
  const client = useClient();
  const cache = useQueryClient();
  const { mutate, isPending, error, data, reset } = useMutation({
    async mutationFn(body: SentFile) {
      await before?.();
      return await client.call<Saved>(actionPath(kind, 'save'), ['name', 'version'], {
        method: 'POST',
        body,
      });
    },
    onSuccess() {
      // The lists of the navigation and the other pages have it at once.
      void cache.invalidateQueries({ queryKey: queries[kind].queryKey });
      void cache.invalidateQueries({ queryKey: queries.workbench.queryKey });
    },
  });
  const save: Saving['save'] = (sent, onSaved) => mutate(sent, { onSuccess: onSaved });
  return { save, busy: isPending, error: error ?? undefined, saved: data, reset };
}
