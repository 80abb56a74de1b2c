const SPAN_MS = 20;

/** Time of this thread on a core, ms: the mean of as many runs as the kernel's clock needs. */
function coreMs(work: () => unknown): number {
  const start = process.threadCpuUsage();
  for (let runs = 1; ; runs++) {
    work();
    const { user, system } = process.threadCpuUsage(start);
    if (user + system >= SPAN_MS * 1_000) return (user + system) / 1_000 / runs;
  }
}
