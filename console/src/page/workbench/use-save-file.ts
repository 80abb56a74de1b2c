import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ApiError, useClient } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';

/** Kinds of definitions that are one file: the part of their paths in the API. */
type SavedKind = 'alerts' | 'dashboards' | 'searches';

interface SentFile {
  readonly name: string;
  readonly definition: string;
  /** null: a new file. */
  readonly version: string | null;
}

interface SavedFile {
  readonly name: string;
  readonly version: string;
}

interface SavingFile {
  readonly save: (text: SentFile) => void;
  readonly busy: boolean;
  readonly error: ApiError | undefined;
  readonly saved: SavedFile | undefined;
}

/** Saves the file of a definition. @param onSaved is called with what was sent */
export function useSaveFile(
  kind: SavedKind,
  onSaved: (saved: SavedFile, sent: SentFile) => void,
): SavingFile {
  const client = useClient();
  const cache = useQueryClient();
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: (body: SentFile) =>
      client.call<SavedFile>(`/api/workbench/${kind}/save`, ['name', 'version'], { method: 'POST', body }),
    onSuccess(saved, sent) {
      void cache.invalidateQueries({ queryKey: queries[kind].queryKey });
      onSaved(saved, sent);
    },
  });
  return { save: mutate, busy: isPending, error: error ?? undefined, saved: data };
}
