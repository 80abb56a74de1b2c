import { isDeepStrictEqual } from 'node:util';
import { createRandom, createWeighted, type Random } from '../../src/lib/random.ts';
import type { Service } from '../../src/service/service.ts';
import type { WireEvent } from '../oracle/event.ts';
import { type AgentAnswer, askAsAgent } from './agent.ts';
import { makeCallers, type TestCaller } from './callers.ts';
import { makeEvents, TENANTS } from './data.ts';
import { createOracle, type Expected, escapeSigns, type Question, type Rows } from './oracle.ts';

export interface TenantCounts {
  readonly requests: number;
  readonly answers: number;
  /** Answers that came from the cache. */
  readonly hits: number;
  readonly wrongStatuses: number;
  /** Answers with rows other than the oracle's: foreign, missing or wrong. */
  readonly wrongRows: number;
  readonly firstFault: string;
  readonly seconds: number;
}

export interface TenantOptions {
  /** Its store is empty, its clock stands still at `nowMs`, and its settings are `TENANT_ENV`. */
  readonly service: Pick<Service, 'app' | 'keyring'>;
  /** ms since the epoch. */
  readonly nowMs: number;
  readonly requests: number;
  readonly seed: number;
  readonly onProgress?: (done: number) => void;
}

/** Settings of a service with which the requests are about nothing but the rows in the answers. */
export const TENANT_ENV = {
  TAILRACE_AUTH_FAILURES_PER_MINUTE_MAX: '0', // bad keys come by chance, all from one address
  TAILRACE_QUERY_QUEUE_TIMEOUT_MS: '60000', // a machine may stall for seconds
  TAILRACE_MCP_BYTES_MAX: '16777216', // answers to agents are whole
} as const;

const CONNECTIONS = 16;
/** Share of the requests that agents send. */
const AGENTS = 0.1;
const PROGRESS_EVERY = 50_000;
const FREE_OF_DOUBT = ['timestamp', 'min_execution_time', 'max_execution_time', 'count', 'error_count'];

/** Sends random requests with keys of all tenants and compares each answer with an oracle. */
export async function tenantRounds(options: TenantOptions): Promise<TenantCounts> {
  const { service, nowMs, requests, seed, onProgress } = options;
  const events = makeEvents(seed, nowMs);
  await ingest(service, 'cloudflare.logs.prod', events.edge);
  await ingest(service, 'deno-relay-logs', events.invocations);
  const callers = await makeCallers(service, nowMs);
  const expect = createOracle(events, nowMs);
  const random = createRandom(`tenant requests ${seed}`);
  const judge = createJudge();
  const startMs = performance.now();
  let sent = 0;

  async function connection(): Promise<void> {
    while (sent < requests) {
      sent++;
      const caller = random.pick(callers);
      const question = ask(random, caller);
      if (random.chance(AGENTS)) {
        judge.take(
          { caller, question, hit: false, ...(await askAsAgent(service.app, caller.key, question)) },
          expect,
        );
        continue;
      }
      const query = new URLSearchParams(question.parameters);
      const response = await service.app.inject({
        url: `/api/endpoints/query/${question.endpoint}?${query}`,
        headers: { 'x-api-key': caller.key },
      });
      const hit = String(response.headers['cache-status']).startsWith('Tailrace; hit');
      judge.take({ caller, question, hit, status: response.statusCode, text: response.body }, expect);
      if (sent % PROGRESS_EVERY === 0) onProgress?.(sent);
    }
  }

  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return { ...judge.counts, seconds: (performance.now() - startMs) / 1000 };
}

async function ingest(
  { app, keyring }: TenantOptions['service'],
  source: string,
  events: readonly WireEvent[],
): Promise<void> {
  const { key } = await keyring.create({ name: 'sender', scopes: ['ingest'] });
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: `/api/logs?source_name=${source}`,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  if (statusCode !== 200) throw new Error(`the events were answered ${statusCode}: ${body}`);
}

interface Taken {
  readonly caller: TestCaller;
  readonly question: Question;
  readonly hit: boolean;
  readonly status: AgentAnswer['status'];
  readonly text: string;
}

/** An endpoint that a caller may not call is no tool for it. */
function isExpected(status: AgentAnswer['status'], expected: Expected): boolean {
  if ('rows' in expected) return status === 200;
  return status === expected.status || (status === 'hidden' && [403, 404].includes(expected.status));
}

function createJudge() {
  const counts = { requests: 0, answers: 0, hits: 0, wrongStatuses: 0, wrongRows: 0, firstFault: '' };
  // The clock is frozen, so the same question of the same caller has one answer.
  const known = new Map<string, Expected>();
  const proven = new Map<Expected, string>();

  function fault(
    what: 'wrongStatuses' | 'wrongRows',
    { caller, question, text, status }: Taken,
    expected: Expected,
  ) {
    counts[what]++;
    const { key, ...rest } = caller;
    counts.firstFault ||= JSON.stringify({ caller: rest, question, status, text, expected }).slice(0, 3000);
  }

  function takeRows(taken: Taken, expected: Expected & { rows: Rows }): void {
    counts.answers++;
    if (proven.get(expected) === taken.text) return;
    if (sameRows(taken.text, expected.rows)) proven.set(expected, taken.text);
    else fault('wrongRows', taken, expected);
  }

  return {
    counts,
    take(taken: Taken, expect: ReturnType<typeof createOracle>): void {
      const { caller, question, status } = taken;
      const name = JSON.stringify([caller.key, question]);
      const expected = known.get(name) ?? expect(caller, question);
      known.set(name, expected);
      counts.requests++;
      if (taken.hit) counts.hits++;
      if (!isExpected(status, expected)) fault('wrongStatuses', taken, expected);
      else if ('rows' in expected) takeRows(taken, expected);
    },
  };
}

/** Compares all columns exactly, except percentiles, which are approximate, and metadata, which is compared elsewhere. */
function sameRows(text: string, expected: Rows): boolean {
  const { result } = JSON.parse(text) as { result: Record<string, unknown>[] };
  const rows = result.map((row) => {
    const names = 'metadata' in row ? ['id', 'timestamp'] : 'count' in row ? FREE_OF_DOUBT : Object.keys(row);
    return Object.fromEntries(names.map((name) => [name, row[name]]));
  });
  return isDeepStrictEqual(rows, expected);
}

// logs.all is not cached: more of it would turn the run into a benchmark of the engine.
const pickEndpoint = createWeighted([
  [48, 'functions.invocation-stats'],
  [48, 'usage.api-counts'],
  [2, 'logs.all'],
  [1, 'nothing.here'],
]);
const pickProject = createWeighted<'own' | 'none' | 'escaped' | 'foreign'>([
  [5, 'own'],
  [5, 'none'],
  [2, 'escaped'],
  [3, 'foreign'],
]);

function ask(random: Random, caller: TestCaller): Question {
  const own = caller.pins['project'] ?? random.pick(TENANTS);
  const foreign = random.pick(TENANTS);
  const endpoint = pickEndpoint(random);
  // Names that are invalid or ambiguous as patterns are only sent by keys that pin them.
  const isPattern = endpoint === 'usage.api-counts' && caller.pins['project'] === undefined;
  const project = {
    own: isPattern ? escapeSigns(own) : own,
    none: '',
    escaped: escapeSigns(own),
    foreign: escapeSigns(foreign),
  }[pickProject(random)];
  const intervals =
    endpoint === 'usage.api-counts' ? ['hourly', 'minutely', 'daily'] : ['', '5min', '1hr', '7day'];
  const interval = random.chance(0.1) ? 'junk' : random.pick(intervals);
  const project_tier = random.pick(['', 'FREE', 'PRO', 'ENTERPRISE', 'junk']);
  const junk = random.chance(0.2) ? { junk: random.hex(), pinned_project: random.pick(TENANTS) } : {};
  return { endpoint, parameters: { project, interval, project_tier, ...junk } };
}
