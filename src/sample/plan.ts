import type { Source } from '../definitions/source.ts';
import type { CallPlan } from './call.ts';
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
import type { SampleOptions } from './project.ts';

/** Every source of a sample, with its share of the events: most are requests at the gateway. */
const SAMPLE_KINDS: readonly SampleKind[] = [
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

/** The events of one source. */
export interface SamplePart {
  readonly source: Source;
  readonly kind: SampleKind;
  /** All its events, including calls. */
  readonly rows: number;
  /** Calls of functions, an event each: the same calls in each source that describes them. */
  readonly calls: CallPlan;
}

/** Divides the rows among the sources that a sample has; if some are not defined, the others get more. */
export function planSample(
  sources: readonly Source[],
  { rows, days }: Pick<SampleOptions, 'rows' | 'days'>,
): SamplePart[] {
  const parts = SAMPLE_KINDS.flatMap((kind) => {
    const source = sources.find((one) => one.name === kind.source);
    return source === undefined ? [] : [{ source, kind }];
  });
  const total = parts.reduce((sum, { kind }) => sum + kind.percent, 0);
  let passed = 0;
  let planned = 0;
  const shared = parts.map(({ source, kind }) => {
    passed += kind.percent;
    const own = Math.round((rows * passed) / total) - planned;
    planned += own;
    return { source, kind, rows: own };
  });
  const calls = planCalls(shared, days);
  return shared.map((part) => ({ ...part, calls: part.kind.describeCall ? calls : NO_CALLS }));
}

const NO_CALLS: CallPlan = { rows: 0, days: 0 };

/** Plans as many calls as the relay has events, as far back as all sources that describe calls keep them. */
function planCalls(parts: readonly Omit<SamplePart, 'calls'>[], days: number): CallPlan {
  const callers = parts.filter(({ kind }) => kind.describeCall !== undefined);
  const relay = callers.find(({ kind }) => kind.describe === undefined);
  // Without the source of the relay, the gateway still has the requests.
  const rows = relay?.rows ?? Math.floor((callers[0]?.rows ?? 0) * CALLS_OF_REQUESTS);
  return {
    rows: Math.min(rows, ...callers.map((part) => part.rows)),
    days: Math.min(days, ...callers.map(({ source }) => source.retentionDays)),
  };
}

const CALLS_OF_REQUESTS = 0.25;
