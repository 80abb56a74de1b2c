import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { tenantRounds } from '../tenants/rounds.ts';

/** Whether any key ever sees rows that are not its own, over many random requests. */
export async function tenantsSection({ requests }: BenchOptions): Promise<Row[]> {
  const so = await tenantRounds({
    requests,
    seed: 1,
    onProgress: (done) => say(`tenants: ${done} of ${requests} requests`),
  });
  if (so.firstFault !== '') say(`the first fault: ${so.firstFault}`);
  const none = { below: 1 };
  return [
    { name: 'requests of 20 tenants', unit: 'requests', values: [so.requests] },
    { name: 'of them answered with rows', unit: 'requests', values: [so.answers] },
    { name: 'of them from the cache', unit: 'requests', values: [so.hits] },
    { name: 'rate, without sockets', unit: 'requests/s', values: [so.requests / so.seconds] },
    { name: 'answers with foreign or wrong rows', unit: 'answers', values: [so.wrongRows], goal: none },
    { name: 'wrong statuses', unit: 'answers', values: [so.wrongStatuses], goal: none },
  ];
}
