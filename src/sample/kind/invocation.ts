import type { Random } from '../../lib/random.ts';
import type { SampleFunction } from '../function.ts';
import { type Description, isoInstant, type Moment } from '../kind.ts';

const OUTAGE_SHARE = 0.4;
const OUTAGE_SLOWER = 3;

/** One invocation of a function, as `deno-relay-logs` has it. */
export function describeInvocation({ random, project, at, failing }: Moment): Description {
  const called = project.pickFunction(random);
  const { id, name, method } = called;
  const status = pickStatus(random, failing);
  const pathname = `/functions/v1/${name}`;
  const url = `https://${project.host}${pathname}`;
  return {
    message: `${method} | ${status} | ${url}`,
    metadata: {
      deployment_id: called.deploymentId,
      execution_id: random.uuid(),
      execution_time_ms: pickTime(called, random, failing),
      function_id: id,
      project_ref: project.ref,
      request: {
        headers: {
          content_length: method === 'GET' ? null : String(random.whole(20, 4_000)),
          host: project.host,
        },
        host: project.host,
        method,
        pathname,
        port: null,
        protocol: 'https:',
        search: null,
        url,
      },
      response: {
        headers: {
          content_type: 'application/json',
          date: isoInstant(at),
          server: 'deno',
          x_served_by: called.region,
        },
        status_code: status,
      },
      version: called.version,
    },
  };
}

function pickStatus(random: Random, failing: boolean): number {
  if (failing && random.chance(OUTAGE_SHARE)) return random.pick([500, 500, 503, 504]);
  const luck = random.next();
  if (luck < 0.006) return random.pick([500, 546]); // 546: the function ran out of memory or time
  if (luck < 0.03) return random.pick([400, 401, 404]);
  return luck < 0.07 ? 204 : 200;
}

/** Milliseconds with three decimals, as the relay measures them. */
function pickTime({ medianMs, sigma }: SampleFunction, random: Random, failing: boolean): number {
  return Math.round(random.logNormal(medianMs, sigma) * (failing ? OUTAGE_SLOWER : 1) * 1_000) / 1_000;
}
