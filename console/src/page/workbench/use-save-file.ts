import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SavedEndpoint } from '../../../../src/management/workbench-view.ts';
import { useClient } from '../../api/client.ts';
import { queries, type Run, useRun } from '../../api/queries.ts';
import { type Base, type StoredFiles, toBase } from './work.ts';

/** Definitions that the workbench saves: the part of their paths in the API. */
export type DefinitionKind = 'endpoints' | 'alerts' | 'dashboards' | 'searches';

/** The path of something that is done with the texts of a definition. */
export function actionPath(kind: DefinitionKind, action: 'check' | 'save'): string {
  return `/api/workbench/${kind === 'endpoints' ? '' : `${kind}/`}${action}`;
}

export function filesPath(kind: DefinitionKind, name: string): string {
  return `/api/workbench/${kind}/${encodeURIComponent(name)}`;
}

/** Reads what a definition's files are now. @param reason each reads them by itself */
export function useStored(reason: string, kind: DefinitionKind, name: string, isWanted: boolean): Run<Base> {
  const path = filesPath(kind, name);
  const needs = ['definition', 'version'] as const;
  return useRun(isWanted ? [reason, path] : undefined, async (client, signal) =>
    toBase(await client.call<StoredFiles>(path, needs, { signal })),
  );
}

interface SentFile {
  readonly name: string;
  readonly definition: string;
  /** null: a new file. */
  readonly version: string | null;
  readonly sql?: string;
  readonly test?: string;
}

/** `tests`: those of an endpoint, which ran. */
export type Saved = Pick<SavedEndpoint, 'name' | 'version'> & Partial<Pick<SavedEndpoint, 'tests'>>;

export type Saving = ReturnType<typeof useSaveFile>;

/** Saves the file of a definition, or the files of an endpoint. @param before saves what it needs */
export function useSaveFile(kind: DefinitionKind, before?: () => Promise<void>) {
  const client = useClient();
  const cache = useQueryClient();
  return useMutation({
    async mutationFn(body: SentFile) {
      await before?.();
      const path = actionPath(kind, 'save');
      return await client.call<Saved>(path, ['name', 'version'], { method: 'POST', body });
    },
    onSuccess() {
      // The lists of the navigation and the other pages have it at once.
      void cache.invalidateQueries({ queryKey: queries[kind].queryKey });
      void cache.invalidateQueries({ queryKey: queries.workbench.queryKey });
    },
  });
}
