import autocannon from 'autocannon';

export interface CannonJob {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  /** How long it sends; unless it sends a number of requests. */
  readonly seconds?: number;
  readonly amount?: number;
}

export interface CannonResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Responses other than 2xx, and requests without one within ten seconds. */
  readonly failures: number;
}

process.once('message', async (job: CannonJob) => {
  process.send?.(await run(job), () => process.disconnect());
});

async function run({ url, headers, connections, seconds, amount }: CannonJob): Promise<CannonResult> {
  const result = await autocannon({
    ...{ url, headers: { ...headers }, connections },
    ...(seconds !== undefined && { duration: seconds }),
    ...(amount !== undefined && { amount }),
  });
  return {
    requests: result.requests.total,
    requestsPerSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failures: result.non2xx + result.errors + result.timeouts,
  };
}
