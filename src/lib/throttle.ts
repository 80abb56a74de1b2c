/**
 * Calls the given function at most once in `everyMs` and drops every other call.
 *
 * @param now ms since the epoch; a clock that is set back does not block the next call
 */
export function createThrottle(everyMs: number, now: () => number): (work: () => void) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (work) => {
    if (Math.abs(now() - lastMs) < everyMs) return;
    lastMs = now();
    work();
  };
}
