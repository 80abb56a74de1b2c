import type { Random } from '../../lib/random.ts';
import type { FunctionCall } from '../call.ts';
import { type Description, isoInstant } from '../kind.ts';

/** One invocation of a function, in `deno-relay-logs`. */
export function describeInvocation(call: FunctionCall, random: Random): Description {
  const { at, project, called, status, executionMs } = call;
  const { id, name, method } = called;
  const pathname = `/functions/v1/${name}`;
  const url = `https://${project.host}${pathname}`;
  return {
    message: `${method} | ${status} | ${url}`,
    metadata: {
      deployment_id: called.deploymentId,
      execution_id: random.uuid(),
      execution_time_ms: executionMs,
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
