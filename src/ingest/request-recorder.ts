import { v7 } from 'uuid';
import type { Registry } from '../definitions/registry.ts';
import { isManaged } from '../definitions/source.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import type { Committer } from './committer.ts';
import { parseEvent } from './event.ts';
import { encodeRows } from './rows.ts';

/** A request that Tailrace has served. */
export interface ServedRequest {
  readonly method: string;
  /** Without the query string: values of parameters are not recorded. */
  readonly path: string;
  readonly host: string;
  readonly status: number;
  readonly durationMs: number;
  readonly requestId: string;
}

export type RecordRequest = (request: ServedRequest) => void;

export interface RecorderOptions {
  readonly registry: Registry;
  readonly committer: Committer;
  /** The project of the recorded events. */
  readonly project: string;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly onDropped: (error: unknown) => void;
}

/** The source whose events the shipped endpoints count as API requests. */
export const EDGE_SOURCE = 'cloudflare.logs.prod';
// Path and host are cut to this length: a path may be as long as a URL, which is too much for an event.
const TEXT_CHARS_MAX = 2_000;

/** Stores served requests as edge events of a project. Fire and forget: a request that cannot be stored is reported to `onDropped`. */
export function createRequestRecorder({
  registry,
  committer,
  project,
  now,
  onDropped,
}: RecorderOptions): RecordRequest {
  async function store(request: ServedRequest): Promise<void> {
    const source = registry.findSource(EDGE_SOURCE);
    if (source === undefined || !isManaged(source)) return;
    const text = eventText(request, project);
    const rules = { now: now() * MICROS_PER_MS, project };
    await committer.commit(source, encodeRows([parseEvent({ text }, source, rules)]));
  }
  return (request) => void store(request).catch(onDropped);
}

/** Writes an event without a `url`, so that usage.api-counts finds the event by its project, which the requested URL need not contain. */
function eventText(
  { method, status, durationMs, requestId, ...long }: ServedRequest,
  project: string,
): string {
  const path = long.path.slice(0, TEXT_CHARS_MAX);
  const host = long.host.slice(0, TEXT_CHARS_MAX);
  return JSON.stringify({
    id: v7(),
    project,
    event_message: `${method} | ${status} | ${path}`,
    metadata: {
      request: { method, path, host, id: requestId },
      response: { status_code: status, origin_time: durationMs },
    },
  });
}
