import { describeAuthRequest } from './kind/auth.ts';
import { describeCallRequest, describeRequest } from './kind/edge.ts';
import { describeFunctionOutput } from './kind/function-output.ts';
import { describeInvocation } from './kind/invocation.ts';
import { describePoolerMessage } from './kind/pooler.ts';
import { describeDatabaseMessage } from './kind/postgres.ts';
import { describeRestServerMessage } from './kind/postgrest.ts';
import { describeRealtimeMessage } from './kind/realtime.ts';
import { describeStorageRequest } from './kind/storage.ts';
import type { SampleKind } from './kind.ts';

/** Every source that is made up, and its part of the events: most are requests at the gateway. */
export const SAMPLE_KINDS: readonly SampleKind[] = [
  {
    source: 'cloudflare.logs.prod',
    percent: 60,
    describe: describeRequest,
    describeCall: describeCallRequest,
  },
  { source: 'deno-relay-logs', percent: 15, describeCall: describeInvocation },
  { source: 'deno-subhosting-events', percent: 7, describe: describeFunctionOutput },
  { source: 'postgres.logs', percent: 5, describe: describeDatabaseMessage },
  { source: 'gotrue.logs.prod', percent: 4, describe: describeAuthRequest },
  { source: 'storage.logs.prod.2', percent: 4, describe: describeStorageRequest },
  { source: 'realtime.logs.prod', percent: 2, describe: describeRealtimeMessage },
  { source: 'postgREST.logs.prod', percent: 2, describe: describeRestServerMessage },
  { source: 'pgbouncer.logs.prod', percent: 1, describe: describePoolerMessage },
];
