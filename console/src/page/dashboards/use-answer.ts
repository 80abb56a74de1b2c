import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type Answer, toAnswer } from '../../api/answer.ts';
import { type ApiError, useClient } from '../../api/client.ts';

interface AnswerOptions {
  /** undefined: nothing is asked yet. */
  readonly path: string | undefined;
  readonly refreshSeconds: number | undefined;
}

export interface AnswerState {
  /** The last answer; a failed read keeps it. */
  readonly answer: Answer | undefined;
  readonly error: ApiError | undefined;
}

/**
 * Reads the answer of a panel, once for all panels with the same request. It is read again by its ETag: an answer that has not
 * changed is not sent again, and stays the same object, so that nothing is drawn again.
 */
export function useAnswer({ path, refreshSeconds }: AnswerOptions): AnswerState {
  const client = useClient();
  const cache = useQueryClient();
  const queryKey = ['dashboard', path] as const;
  const { data, error } = useQuery({
    queryKey,
    enabled: path !== undefined,
    async queryFn({ signal }) {
      const before = cache.getQueryData<Answer>(queryKey);
      const headers = before?.etag === undefined ? {} : { 'if-none-match': before.etag };
      const raw = await client.callRaw(path ?? '', { signal, headers });
      return raw.status === 304 && before !== undefined ? before : toAnswer(raw);
    },
    structuralSharing: false, // answers are large, and may have bigints
    ...(refreshSeconds !== undefined && { refetchInterval: refreshSeconds * 1000 }),
  });
  return { answer: data, error: error ?? undefined };
}
