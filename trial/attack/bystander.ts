import { setTimeout as pause } from 'node:timers/promises';
import { QUERY_PATH } from '../http.ts';

/** What another key than the attacker's asks for. */
export type Kind = 'cached' | 'query' | 'ingest' | 'health';

/** One request of the bystander and what came of it. */
export interface Exchange {
  readonly kind: Kind;
  /** `performance.now()` */
  readonly startMs: number;
  readonly endMs: number;
  /** 0: no answer at all. */
  readonly status: number;
}

export interface Bystander {
  readonly exchanges: readonly Exchange[];
  /** Events in requests that were answered 200. */
  readonly acknowledged: () => number;
  /** Resolves when each request with events has been acknowledged, however often it had to be sent. */
  stop(): Promise<void>;
}

export interface BystanderOptions {
  readonly url: string;
  readonly key: string;
  /** Project of the events that it sends; no other has it. */
  readonly project: string;
  /** Project whose logs and usage it asks for. */
  readonly logsOf: string;
}

const EVENTS_PER_REQUEST = 5;
const PAUSE_MS = 30;
const ANSWER_MS_MAX = 20_000;
// After the end of the attack; what is not acknowledged then never will be.
const LAST_MS_MAX = 60_000;

export const cachedPath = (project: string) =>
  `${QUERY_PATH}/usage.api-counts?project=${project}&interval=daily`;

/** Starts four loops that ask for a cached answer, for new ones, for `/health`, and send events, each request after the one before. */
export function startBystander({ url, key, project, logsOf }: BystanderOptions): Bystander {
  const exchanges: Exchange[] = [];
  let isStopped = false;
  let acknowledged = 0;
  let asked = 0;

  async function exchange(kind: Kind, path: string, init: RequestInit = {}): Promise<number> {
    const startMs = performance.now();
    const headers = { 'x-api-key': key, 'content-type': 'application/x-ndjson', ...init.headers };
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const status = await fetch(`${url}${path}`, { ...init, headers, signal }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    exchanges.push({ kind, startMs, endMs: performance.now(), status });
    return status;
  }

  /** What nobody has asked before, so that the engine has to answer. */
  function newPath(): string {
    const until = new Date(Date.now() + asked++).toISOString();
    return `${QUERY_PATH}/logs.all?project=${logsOf}&project_tier=PRO&iso_timestamp_end=${until}`;
  }

  async function send(request: number): Promise<void> {
    const events = Array.from({ length: EVENTS_PER_REQUEST }, (_, i) =>
      JSON.stringify({ id: `${project}-${request}.${i}`, project, event_message: 'of a bystander' }),
    );
    const lastMs = performance.now() + LAST_MS_MAX;
    const init = {
      method: 'POST',
      headers: { 'idempotency-key': `${project}-${request}` },
      body: events.join('\n'),
    };
    while (performance.now() < lastMs) {
      if ((await exchange('ingest', '/api/logs?source_name=cloudflare.logs.prod', init)) === 200) {
        acknowledged += EVENTS_PER_REQUEST;
        return;
      }
      await pause(PAUSE_MS);
    }
  }

  async function repeat(work: (time: number) => Promise<unknown>): Promise<void> {
    for (let time = 0; !isStopped; time++) {
      await work(time);
      await pause(PAUSE_MS);
    }
  }

  const loops = Promise.all([
    repeat(() => exchange('cached', cachedPath(logsOf))),
    repeat(() => exchange('query', newPath())),
    repeat(() => exchange('health', '/health')),
    repeat(send),
  ]);
  return {
    exchanges,
    acknowledged: () => acknowledged,
    async stop() {
      isStopped = true;
      await loops;
    },
  };
}
