import { useState } from 'react';
import type { EndpointFiles, SavedEndpoint } from '../../../../src/management/view.ts';
import { ApiError, useClient } from '../../api/client.ts';
import { useRaise } from '../../api/use-raise.ts';
import { newId, withName } from './definition.ts';
import { keepDraft } from './draft.ts';
import type { WorkedFiles } from './use-files.ts';

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
  readonly work: WorkedFiles;
  /** Fills in what a definition lacks. */
  readonly complete: (definition: string) => Promise<string>;
  /** Called with the name of the saved endpoint. */
  readonly onSaved: (name: string) => void;
}

/** Saves the texts under work. */
export function useSave({ name, work, complete, onSaved }: SaveOptions): Saving {
  const { call } = useClient();
  const [saving, setSaving] = useState<SaveState>({ state: 'idle' });
  const [isAsking, setAsking] = useState(false);
  const raise = useRaise();
  const { files, base } = work;

  const attempt = async (task: () => Promise<SaveState>) => {
    setSaving({ state: 'busy' });
    try {
      setSaving(await task());
    } catch (error) {
      if (!(error instanceof ApiError)) return raise(error);
      setSaving({ state: error.code === 'conflict' ? 'conflict' : 'failed', error });
    }
  };
  const send = (to: string, written: string, version: string | null) =>
    attempt(async () => {
      const definition = await complete(written);
      const body = { name: to, definition, sql: files.sql, version };
      const saved = await call<SavedEndpoint>('/api/workbench/save', ['name', 'version', 'tests'], {
        method: 'POST',
        body,
      });
      keepDraft(name, { values: {} });
      work.settle({ definition, sql: files.sql, version: saved.version }, files);
      setAsking(false);
      onSaved(saved.name);
      return { state: 'saved', saved };
    });
  return {
    saving,
    isAsking,
    ask(isOpen) {
      setSaving({ state: 'idle' });
      setAsking(isOpen);
    },
    save: () => void send(name, files.definition, base.version),
    saveAs(to) {
      const named = withName(files.definition, to, base.version === null ? undefined : newId());
      void send(to, named, null);
    },
    loadStored: () =>
      void attempt(async () => {
        work.reset(
          await call<EndpointFiles>(`/api/workbench/endpoints/${encodeURIComponent(name)}`, [
            'definition',
            'sql',
          ]),
        );
        return { state: 'idle' };
      }),
  };
}
