const SPAN_MS = 20;
const TRIES = 10;
// Nearer to 1 than to 4: no other try is needed.
const CLEAR = 1.5;

/**
 * How many times the time for each of the `n` grows from n to 4n: about 1 for work in proportion to n, 4 for its square. In time of
 * this thread on a core, which other work on the machine does not change much; the least of several tries.
 */
export function growth(work: (n: number) => unknown, n: number): number {
  work(n); // compiled before it is measured
  work(4 * n);
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES && least > CLEAR; i++)
    least = Math.min(least, coreMs(() => work(4 * n)) / (4 * coreMs(() => work(n))));
  return least;
}

/** Time of this thread on a core, ms: the mean of as many runs as the kernel's clock needs. */
function coreMs(work: () => unknown): number {
  const start = process.threadCpuUsage();
  for (let runs = 1; ; runs++) {
    work();
    const { user, system } = process.threadCpuUsage(start);
    if (user + system >= SPAN_MS * 1_000) return (user + system) / 1_000 / runs;
  }
}
