import { useCallback, useState } from 'react';

/** @returns a function that throws an error of work in the background where the page is drawn: its boundary shows it */
export function useRaise(): (error: unknown) => void {
  const [, set] = useState<undefined>();
  return useCallback(
    (error) =>
      set(() => {
        throw error;
      }),
    [],
  );
}
