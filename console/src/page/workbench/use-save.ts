import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { SavedEndpoint } from '../../../../src/management/view.ts';
import { type ApiError, useClient } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { readFiles } from './api.ts';
import { newId, withName } from './definition.ts';
import { keepDraft, type WorkedFiles } from './use-files.ts';

type SaveState =
  | { readonly state: 'idle' | 'busy' }
  | { readonly state: 'saved'; readonly saved: SavedEndpoint }
  | { readonly state: 'conflict' | 'failed'; readonly error: ApiError };

export interface Saving {
  readonly saving: SaveState;
  /** Whether the question for a name is open. */
  readonly isAsking: boolean;
  ask(isOpen: boolean): void;
  /** Saves under the present name. */
  save(): void;
  /** Saves as a new endpoint. */
  saveAs(name: string): void;
  /** Continues with the stored files after a conflict. */
  loadStored(): void;
}

interface SaveOptions {
  readonly name: string;
  /** The name under which the draft is kept. */
  readonly draftName: string;
  readonly work: WorkedFiles;
  /** Fills in what a definition lacks. */
  readonly complete: (definition: string) => Promise<string>;
  /** Called with the name of the saved endpoint. */
  readonly onSaved: (name: string) => void;
}

/** Saves the texts under work. */
export function useSave({ name, draftName, work, complete, onSaved }: SaveOptions): Saving {
  const client = useClient();
  const cache = useQueryClient();
  const {
    mutate: attempt,
    reset,
    data,
    error,
    isPending,
  } = useMutation({
    mutationFn: (task: () => Promise<SaveState>) => task(),
  });
  const [isAsking, setAsking] = useState(false);
  const { files, base } = work;

  const toState = (): SaveState => {
    if (isPending) return { state: 'busy' };
    if (error !== null) return { state: error.code === 'conflict' ? 'conflict' : 'failed', error };
    return data ?? { state: 'idle' };
  };
  const send = (to: string, written: string, version: string | null) =>
    attempt(async () => {
      const definition = await complete(written);
      const hasTest = version === null && work.test.trim() !== '';
      const body = { name: to, definition, sql: files.sql, version, ...(hasTest && { test: work.test }) };
      const saved = await client.call<SavedEndpoint>('/api/workbench/save', ['name', 'version', 'tests'], {
        method: 'POST',
        body,
      });
      keepDraft(client.self.id, draftName, { values: {} });
      work.settle({ definition, sql: files.sql, version: saved.version }, files);
      setAsking(false);
      // The lists of the navigation and the other pages have it at once.
      void cache.invalidateQueries({ queryKey: queries.endpoints.queryKey });
      void cache.invalidateQueries({ queryKey: queries.workbench.queryKey });
      onSaved(saved.name);
      return { state: 'saved', saved };
    });
  return {
    saving: toState(),
    isAsking,
    ask(isOpen) {
      reset();
      setAsking(isOpen);
    },
    save: () => send(name, files.definition, base.version),
    saveAs(to) {
      const named = withName(files.definition, to, base.version === null ? undefined : newId());
      send(to, named, null);
    },
    loadStored: () =>
      attempt(async () => {
        work.reset(await readFiles(client, name));
        return { state: 'idle' };
      }),
  };
}
