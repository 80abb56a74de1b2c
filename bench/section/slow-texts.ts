import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cachedPath } from '../../trial/attack/bystander.ts';
import { createKey } from '../../trial/attack/trial.ts';
import { SLOW_TEXTS, type SlowText } from '../../trial/fuzz/slow-texts.ts';
import { KEY, withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../folder.ts';
import type { Pauses } from '../pause-watch.ts';
import { type Row, say } from '../report.ts';

const ROUNDS = 5;
const ANSWER_MS_MAX = 20_000;
const WAIT_MS_MAX = 50;
const BESIDE_PAUSE_MS = 2;
const CALM_MS = 300;
const PROJECT = 'somebody';

/** What one text cost: the longest waits of others, and the longest time of the service's event loop. */
interface Cost {
  readonly name: string;
  readonly statuses: readonly number[];
  readonly healthMs: number;
  readonly cachedMs: number;
  readonly onCoreMs: number;
}

/** The longest wait of /health, and of another key's cached answer, beside the worst text of each parser. */
export async function slowTexts(): Promise<Row[]> {
  return await inTemporaryFolder(async (dataDir) => {
    const pausesFile = join(dataDir, 'pauses.json');
    const nodeArgs = ['--import', join(import.meta.dirname, '../pause-watch.ts')];
    return await withServer({ dataDir, env: { PAUSES_FILE: pausesFile }, nodeArgs }, async ({ url, pid }) => {
      const other = await createKey(url, KEY, { name: 'other', scopes: ['query'] });
      const costs: Cost[] = [];
      const none = { name: 'nothing', method: 'GET', path: '/health' } as const;
      for (const text of [none, ...SLOW_TEXTS]) {
        process.kill(pid, 'SIGUSR2');
        const cost = await measure(url, text, other);
        const { onCoreMs } = JSON.parse(readFileSync(pausesFile, 'utf8')) as Pauses; // written by pause-watch.ts
        costs.push({ ...cost, onCoreMs });
        describe({ ...cost, onCoreMs });
      }
      return toRows(costs.slice(1));
    });
  });
}

/** Sends a text a few times, each after the answer to the one before, while others ask all the time. */
async function measure(url: string, text: SlowText, other: string): Promise<Omit<Cost, 'onCoreMs'>> {
  const statuses: number[] = [];
  const stop = new AbortController();
  const health = repeat(`${url}/health`, {}, stop.signal);
  const cached = repeat(`${url}${cachedPath(PROJECT)}`, { 'x-api-key': other }, stop.signal);
  await pause(CALM_MS);
  for (let i = 0; i < ROUNDS; i++) statuses.push(await send(url, text));
  await pause(CALM_MS);
  stop.abort();
  return { name: text.name, statuses, healthMs: await health, cachedMs: await cached };
}

async function send(url: string, { method, path, headers, body }: SlowText): Promise<number> {
  const init = { method, headers: { 'x-api-key': KEY, ...headers }, ...(body !== undefined && { body }) };
  const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  await response.arrayBuffer();
  return response.status;
}

/** @returns the longest wait for an answer, ms */
async function repeat(url: string, headers: Record<string, string>, until: AbortSignal): Promise<number> {
  let longestMs = 0;
  for (let asked = 0; !until.aborted; asked++) {
    const startMs = performance.now();
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url} was answered ${response.status}`);
    if (asked > 0) longestMs = Math.max(longestMs, performance.now() - startMs); // the first connects, or computes
    await pause(BESIDE_PAUSE_MS);
  }
  return longestMs;
}

function describe({ name, statuses, healthMs, cachedMs, onCoreMs }: Cost): void {
  const waits = `/health ${Math.round(healthMs)} ms, cached ${Math.round(cachedMs)} ms`;
  const load = (loadavg()[0] ?? 0).toFixed(1);
  say(
    `texts: ${name}: ${[...new Set(statuses)]}; ${waits}; ${Math.round(onCoreMs)} ms on a core; load ${load}`,
  );
}

function toRows(costs: readonly Cost[]): Row[] {
  const most = (what: string, of: (cost: Cost) => number): Row => {
    const worst = costs.reduce((a, b) => (of(b) > of(a) ? b : a));
    say(`texts: ${what}: ${worst.name}`);
    return { name: `texts: ${what}`, unit: 'ms', values: [of(worst)], goal: { below: WAIT_MS_MAX } };
  };
  return [
    { name: 'texts: slow texts', unit: 'texts', values: [costs.length] },
    most('longest wait of /health', ({ healthMs }) => healthMs),
    most('longest wait of another key for a cached answer', ({ cachedMs }) => cachedMs),
    most('longest pause of the event loop, on a core', ({ onCoreMs }) => onCoreMs),
  ];
}
