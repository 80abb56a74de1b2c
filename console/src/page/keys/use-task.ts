import { useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { useRaise } from '../../api/use-raise.ts';

/** One call that changes something: whether it is running, and its error. */
export function useTask(): {
  readonly busy: boolean;
  readonly error: ApiError | undefined;
  run(work: () => Promise<void>): void;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const raise = useRaise();
  const work = async (task: () => Promise<void>) => {
    setBusy(true);
    try {
      await task();
    } catch (failure) {
      if (!(failure instanceof ApiError)) return raise(failure);
      setError(failure);
      setBusy(false);
    }
  };
  return { busy, error, run: (task) => void work(task) };
}
