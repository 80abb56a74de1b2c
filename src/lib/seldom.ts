/**
 * Does what it is given, at most once in `everyMs`, and leaves the rest: for what would be said again and again.
 *
 * @param now ms since the epoch
 */
export function createSeldom(everyMs: number, now: () => number): (work: () => void) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (work) => {
    if (Math.abs(now() - lastMs) < everyMs) return;
    lastMs = now();
    work();
  };
}
