import type { Question } from '../questions.ts';

const SECOND_MS = 1_000;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** The time range of a question and its time buckets. */
export interface Window {
  readonly since: Date;
  /** 0: no buckets. */
  readonly bucketSeconds: number;
}

// Endpoint and interval or tier → [bucket, range] in seconds, as the benchmark uses them.
const WINDOWS: Readonly<Record<string, readonly [number, number]>> = {
  'functions.invocation-stats 1day': [HOUR_S, DAY_S],
  'functions.invocation-stats 7day': [DAY_S, 7 * DAY_S],
  'logs.all PRO': [0, 7 * DAY_S],
  'usage.api-counts hourly': [HOUR_S, HOUR_S],
  'usage.api-counts daily': [DAY_S, 7 * DAY_S],
};

/** The range as the endpoint defines it: whole buckets for statistics (spec 4.1 rule 2), the instant itself for the others. */
export function windowOf({ endpoint, parameters }: Question, nowMs: number): Window {
  const selected = parameters['interval'] ?? parameters['project_tier'] ?? '';
  const [bucketSeconds, rangeSeconds] = WINDOWS[`${endpoint} ${selected}`] ?? [];
  if (bucketSeconds === undefined || rangeSeconds === undefined)
    throw new Error(`no rival is asked for ${endpoint} ${selected}`);
  const sinceMs = nowMs - rangeSeconds * SECOND_MS;
  const cut = endpoint === 'functions.invocation-stats' ? sinceMs % (bucketSeconds * SECOND_MS) : 0;
  return { since: new Date(sinceMs - cut), bucketSeconds };
}
