import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Bounds } from '../../src/config/config.ts';
import { openSqliteStore } from '../../src/keys/sqlite-store.ts';
import { createRandom } from '../../src/lib/random.ts';
import type { Service } from '../../src/service/service.ts';
import type { WireEvent } from '../oracle/event.ts';
import { type AgentAnswer, askAsAgent } from './agent.ts';
import { makeCallers, type TestCaller } from './callers.ts';
import { makeEvents } from './data.ts';
import { createOracle, type Expected, type Question, type Rows } from './oracle.ts';
import { makePeople, ROLES_TEXT } from './people.ts';
import { ask } from './question.ts';

interface TenantOptions {
  /** Its store is empty, its clock stands still at `nowMs`, and its settings are those of `tenantEnv`. */
  readonly service: Pick<Service, 'app' | 'keyring'>;
  readonly dataDir: string;
  /** ms since the epoch. */
  readonly nowMs: number;
  readonly requests: number;
  readonly seed: number;
  readonly onProgress?: (done: number) => void;
}

/** Settings of a service with which the requests are about nothing but the rows in the answers. @param folder for the file of roles */
export async function tenantEnv(folder: string) {
  const rolesFile = join(folder, 'roles.yaml');
  await writeFile(rolesFile, ROLES_TEXT);
  return { TAILRACE_QUERY_TIMEOUT_MS: '600000', TAILRACE_ROLES_FILE: rolesFile } as const;
}

/** Its bounds. */
export const TENANT_BOUNDS: Partial<Bounds> = {
  authFailuresPerMinuteMax: 1e9, // bad keys come by chance, all from one address
  queueTimeoutMs: 600_000, // a busy machine may take long
  mcpBytesMax: 16 * 1024 * 1024, // answers to agents are whole
};

const CONNECTIONS = 16;
/** Share of the requests that agents send: with keys, since /mcp accepts no session. */
const AGENTS = 0.1;
const PROGRESS_EVERY = 50_000;
const FREE_OF_DOUBT = ['timestamp', 'min_execution_time', 'max_execution_time', 'count', 'error_count'];

/** Sends random requests of keys and people of all tenants and compares each answer with an oracle. */
export async function tenantRounds(options: TenantOptions) {
  const { service, dataDir, nowMs, requests, seed, onProgress } = options;
  const events = makeEvents(seed, nowMs);
  await ingest(service, 'cloudflare.logs.prod', events.edge);
  await ingest(service, 'deno-relay-logs', events.invocations);
  const store = openSqliteStore(dataDir);
  const addSession = store.sessions.add;
  const people = await makePeople({ keyring: service.keyring, addSession, nowMs }).finally(store.close);
  const callers = [...(await makeCallers(service, nowMs)), ...people];
  const expect = createOracle(events, nowMs);
  const random = createRandom(`tenant requests ${seed}`);
  const judge = createJudge();
  let sent = 0;

  async function connection(): Promise<void> {
    while (sent < requests) {
      sent++;
      const caller = random.pick(callers);
      const question = ask(random, caller);
      if (!caller.isPerson && question.endpoint !== 'search' && random.chance(AGENTS)) {
        judge.take(
          { caller, question, hit: false, ...(await askAsAgent(service.app, caller, question)) },
          expect,
        );
        continue;
      }
      const response = await service.app.inject({ url: urlOf(question), headers: caller.headers });
      const hit = String(response.headers['cache-status']).startsWith('Tailrace; hit');
      judge.take({ caller, question, hit, status: response.statusCode, text: response.body }, expect);
      if (sent % PROGRESS_EVERY === 0) onProgress?.(sent);
    }
  }

  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return judge.counts;
}

function urlOf({ endpoint, parameters }: Question): string {
  const path = endpoint === 'search' ? '/api/search' : `/api/endpoints/query/${endpoint}`;
  return `${path}?${new URLSearchParams(parameters)}`;
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
  const counts = {
    ...{ requests: 0, answers: 0, hits: 0, rows: 0, rowsOfPeople: 0, firstFault: '' },
    wrongStatuses: 0,
    /** Answers with rows other than the oracle's: foreign, missing or wrong. */
    wrongRows: 0,
  };
  // The clock is frozen, so the same question of the same caller has one answer.
  const known = new Map<string, Expected>();
  // Digests of answers: the texts would fill the memory.
  const proven = new Map<Expected, string>();

  function fault(
    what: 'wrongStatuses' | 'wrongRows',
    { caller, question, text, status }: Taken,
    expected: Expected,
  ) {
    counts[what]++;
    const { headers, ...rest } = caller;
    const shown = { caller: rest, sent: Object.keys(headers), question, status, text, expected };
    counts.firstFault ||= JSON.stringify(shown).slice(0, 3000);
  }

  function takeRows(taken: Taken, expected: Expected & { rows: Rows }): void {
    counts.answers++;
    counts.rows += expected.rows.length;
    if (taken.caller.isPerson) counts.rowsOfPeople += expected.rows.length;
    const digest = hash('sha256', taken.text);
    if (proven.get(expected) === digest) return;
    if (sameRows(taken.text, expected.rows)) proven.set(expected, digest);
    else fault('wrongRows', taken, expected);
  }

  return {
    counts,
    take(taken: Taken, expect: ReturnType<typeof createOracle>): void {
      const { caller, question, status } = taken;
      const name = JSON.stringify([caller.name, question]);
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
    const ofEvent = ['source', 'id', 'timestamp'].filter((name) => name in row);
    const names = 'metadata' in row ? ofEvent : 'count' in row ? FREE_OF_DOUBT : Object.keys(row);
    return Object.fromEntries(names.map((name) => [name, row[name]]));
  });
  return isDeepStrictEqual(rows, expected);
}
