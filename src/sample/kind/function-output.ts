import { createWeighted } from '../../lib/random.ts';
import { type Description, isoInstant, type Moment } from '../kind.ts';

interface Output {
  readonly type: 'Boot' | 'Log' | 'Shutdown' | 'UncaughtException';
  readonly level: 'log' | 'info' | 'warning' | 'error';
  readonly text: string;
}

const UNDEFINED = 'TypeError: Cannot read properties of undefined (reading "id")\n';
const REFUSED = 'Error: connection refused by the database\n    at main.ts:42:11\n';

const pickUsual = createWeighted<Output>([
  [20, { type: 'Boot', level: 'log', text: 'booted (time: 31ms)\n' }],
  [34, { type: 'Log', level: 'info', text: 'processed event in one attempt\n' }],
  [20, { type: 'Log', level: 'info', text: '{"msg":"cache miss","key":"catalog:7"}\n' }],
  [6, { type: 'Log', level: 'warning', text: 'retrying upstream call, attempt 2 of 3\n' }],
  [2, { type: 'Log', level: 'error', text: UNDEFINED }],
  [18, { type: 'Shutdown', level: 'log', text: 'shutdown\n' }],
]);

const pickFailure = createWeighted<Output>([
  [5, { type: 'Log', level: 'error', text: 'upstream answered 503 after 10000 ms\n' }],
  [2, { type: 'UncaughtException', level: 'error', text: REFUSED }],
]);

/** The output of a function, its start and its end, in `deno-subhosting-events`. */
export function describeFunctionOutput({ random, project, at, failing }: Moment): Description {
  const { id, deploymentId, region, version } = project.pickFunction(random);
  const { type, level, text } = failing && random.chance(0.5) ? pickFailure(random) : pickUsual(random);
  const ended = type === 'Shutdown';
  return {
    message: text,
    metadata: {
      boot_time: type === 'Boot' ? random.whole(18, 60) : null,
      cpu_time_used: ended ? random.whole(5, 400) : null,
      deployment_id: deploymentId,
      event_type: type,
      execution_id: random.uuid(),
      function_id: id,
      level,
      project_ref: project.ref,
      reason: ended ? random.pick(['EarlyDrop', 'EventLoopCompleted', 'WallClockTime']) : null,
      region,
      served_by: `edge-runtime-${region}`,
      timestamp: isoInstant(at),
      version,
    },
  };
}
