import { setTimeout as pause } from 'node:timers/promises';
import { QUERY_PATH } from '../http.ts';
import { type Attack, STORED_ENDPOINT } from './attack.ts';
import { type Exchange, type Kind, startBystander } from './bystander.ts';

/** A service that is attacked. */
export interface Target {
  readonly url: string;
  /** Id of the engine process that runs; undefined while there is none. */
  readonly findEngine: () => number | undefined;
  /** Keys of the one who attacks, of another who only uses the service, and one that may read the metrics. */
  readonly keys: { readonly attacker: string; readonly other: string; readonly manage: string };
  /** Project whose logs and usage the other key asks for. */
  readonly logsOf: string;
  /** Longest that the engine may be out of order before it is replaced, ms. */
  readonly noticedMsMax: number;
}

/** What one attack did to another key. */
export interface TrialResult {
  readonly statuses: Readonly<Record<string, number>>;
  readonly restarts: number;
  /** Cached answers asked for, and those that failed. */
  readonly cached: number;
  readonly cachedFailed: number;
  /** Longest waits for a cached answer and for `/health`, ms. */
  readonly cachedMsMax: number;
  readonly healthMsMax: number;
  /** From each restart to the first answer to a query, and to the first acknowledged request with events, ms. */
  readonly queryMs: readonly number[];
  readonly ingestMs: readonly number[];
  readonly failedOutside: readonly Exchange[];
  readonly acknowledged: number;
  readonly lost: number;
  readonly doubled: number;
  readonly isReady: boolean;
}

const ATTACK_MS_MAX = 20_000;
// An attacker who is rejected for longer is kept off, and sends the rest without effect.
const RETRY_AFTER_MS_MAX = 5_000;
const POLL_MS = 50;
const READY_MS_MAX = 30_000;
// The bystander before and after the attack.
const CALM_MS = 500;
const COUNT = 1_000_000;

/** Creates a key by another one that may. */
export function createKey(
  url: string,
  manage: string,
  fields: { readonly name: string; readonly scopes: readonly string[] },
): Promise<string> {
  return post(`${url}/api/keys`, manage, fields);
}

/** @returns the secret that was created */
async function post(url: string, key: string, fields: object): Promise<string> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(fields) });
  const created = (await response.json()) as { key?: string; token?: string };
  const secret = created.key ?? created.token;
  if (secret === undefined) throw new Error(`${url} answered ${response.status}`);
  return secret;
}

/** Attacks so often, one time after the other, while another key uses the service. */
export async function tryAttack(target: Target, attack: Attack, times: number): Promise<TrialResult> {
  const project = `bystander-${attack.name.replaceAll(/\W+/g, '-')}`;
  const { url, keys, logsOf } = target;
  const bystander = startBystander({ url, key: keys.other, project, logsOf });
  const watch = watchRestarts(target);
  await pause(CALM_MS);
  const statuses: Record<string, number> = {};
  for (let time = 0; time < times; time++) {
    if ('signal' in attack.how) await watch.noticeAll();
    const status = await strike(target, attack, { time, exchanges: bystander.exchanges });
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  const isReady = await untilReady(url);
  // An engine that hangs is restarted while the first of these waits.
  await untilAnswered(bystander.exchanges);
  await watch.noticeAll();
  await untilAnswered(bystander.exchanges);
  await bystander.stop();
  const restarts = await watch.stop();
  const { exchanges } = bystander;
  const { rows, events } = await readStored(target, project);
  const of = (kind: Kind) => exchanges.filter((exchange) => exchange.kind === kind);
  const queryMs = restarts.map((at) => firstAfter(of('query'), at) - at);
  const ingestMs = restarts.map((at) => firstAfter(of('ingest'), at) - at);
  const cached = of('cached');
  return {
    statuses,
    restarts: restarts.length,
    cached: cached.length,
    cachedMsMax: longestWait(cached),
    healthMsMax: longestWait(of('health')),
    cachedFailed: cached.filter(({ status }) => status !== 200).length,
    queryMs,
    ingestMs,
    failedOutside: exchanges.filter(
      (one) =>
        !['cached', 'health'].includes(one.kind) &&
        one.status !== 200 &&
        !isInOutage(one, exchanges, restarts, target),
    ),
    acknowledged: bystander.acknowledged(),
    lost: bystander.acknowledged() - events,
    doubled: rows - events,
    isReady,
  };
}

/** Attacks once. Returns the status of the answer, or what happened instead of one. */
async function strike(
  target: Target,
  { how }: Attack,
  { time, exchanges }: { time: number; exchanges: readonly Exchange[] },
): Promise<number | string> {
  if ('signal' in how) {
    await untilAnswered(exchanges);
    const pid = target.findEngine();
    if (pid === undefined) return 'no engine process';
    process.kill(pid, how.signal);
    while (target.findEngine() === pid) await pause(POLL_MS);
    return how.signal;
  }
  if ('paths' in how) {
    const statuses = await Promise.all(how.paths(time).map((path) => ask(target, path)));
    return [...new Set(statuses)].toSorted().join(', ');
  }
  const path = `${QUERY_PATH}/${how.endpoint}?${new URLSearchParams({ project: how.project(time) })}`;
  const key =
    how.hasTokens === true ? await post(`${target.url}/api/tokens`, target.keys.attacker, {}) : undefined;
  return await ask(target, path, key);
}

/** One request of the attacker's. @param key its own, or a token of it */
async function ask(target: Target, path: string, key = target.keys.attacker): Promise<number | string> {
  const signal = AbortSignal.timeout(ATTACK_MS_MAX);
  return await fetch(`${target.url}${path}`, { headers: { 'x-api-key': key }, signal }).then(
    async (response) => {
      await response.arrayBuffer();
      const retryAfterMs = Number(response.headers.get('retry-after')) * 1000;
      if (retryAfterMs <= RETRY_AFTER_MS_MAX) await pause(retryAfterMs);
      return response.status;
    },
    () => 'no answer',
  );
}

/** Notes when the engine was restarted, by the metric that counts it; `performance.now()`. */
function watchRestarts({ url, keys }: Target) {
  const found: number[] = [];
  let isStopped = false;
  let reads = 0;

  async function read(): Promise<number> {
    const response = await fetch(`${url}/metrics`, { headers: { 'x-api-key': keys.manage } });
    const [, count] = /^tailrace_engine_restarts_total (\d+)$/m.exec(await response.text()) ?? [];
    return Number(count);
  }

  async function watch(): Promise<void> {
    let known = await read();
    while (!isStopped) {
      await pause(POLL_MS);
      const count = await read();
      reads++;
      for (; known < count; known++) found.push(performance.now());
    }
  }

  const watching = watch();
  return {
    /** Resolves when a read that began from now on has ended: one may have begun before the restart, and waits for the engine. */
    async noticeAll() {
      const last = reads + 2;
      while (reads < last) await pause(POLL_MS);
    },
    async stop() {
      isStopped = true;
      await watching;
      return found;
    },
  };
}

async function untilReady(url: string): Promise<boolean> {
  const lateMs = performance.now() + READY_MS_MAX;
  while (performance.now() < lateMs) {
    if ((await fetch(`${url}/ready`)).status === 200) return true;
    await pause(POLL_MS);
  }
  return false;
}

/** Resolves when a query and events that were sent from now on have been answered well, or that takes too long. */
async function untilAnswered(exchanges: readonly Exchange[]): Promise<void> {
  const nowMs = performance.now();
  const isAnswered = (kind: Kind) =>
    exchanges.some((one) => one.kind === kind && one.startMs > nowMs && one.status === 200);
  while (!(isAnswered('query') && isAnswered('ingest')) && performance.now() < nowMs + READY_MS_MAX)
    await pause(POLL_MS);
}

async function readStored({ url, keys }: Target, project: string): Promise<{ rows: number; events: number }> {
  const response = await fetch(`${url}${QUERY_PATH}/${STORED_ENDPOINT}?project=${project}`, {
    headers: { 'x-api-key': keys.manage },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`what is stored was answered ${response.status}: ${text}`);
  const [{ n } = { n: 0 }] = (JSON.parse(text) as { result: { n: number }[] }).result;
  return { rows: Math.floor(n / COUNT), events: n % COUNT };
}

/** When the first good answer came at or after an instant; infinity: never. */
function firstAfter(exchanges: readonly Exchange[], ms: number): number {
  const ends = exchanges
    .filter(({ status, endMs }) => status === 200 && endMs >= ms)
    .map(({ endMs }) => endMs);
  return Math.min(...ends);
}

function longestWait(exchanges: readonly Exchange[]): number {
  return Math.max(0, ...exchanges.map(({ startMs, endMs }) => endMs - startMs));
}

/** An outage begins when the engine is out of order, which a restart ends, and ends with the next good answer of the kind. */
function isInOutage(
  { kind, startMs, endMs }: Exchange,
  exchanges: readonly Exchange[],
  restarts: readonly number[],
  { noticedMsMax }: Target,
): boolean {
  const ofKind = exchanges.filter((exchange) => exchange.kind === kind);
  return restarts.some((at) => endMs >= at - noticedMsMax && startMs <= firstAfter(ofKind, at));
}
