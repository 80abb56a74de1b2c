import { toAnswer } from '../../../api/answer.ts';
import type { Client } from '../../../api/client.ts';
import { toLine } from '../../../ui/lines/line.ts';
import type { LineSource, LineTail } from '../../../ui/lines/source.ts';
import { type Search, searchPath } from './search.ts';
import { planSlices } from './slice.ts';

/** The lines that a search finds. */
export function createSearchSource(client: Client, search: Search, tail: LineTail): LineSource {
  return {
    fromMs: search.fromMs,
    untilMs: search.untilMs,
    events: JSON.stringify([search.q, search.project, search.source]),
    hasLongPages: true,
    tail,
    planSlices: (untilMs) => planSlices({ ...search, untilMs }),
    async readPage(bounds, { rows, cursor, signal }) {
      const more = { limit: String(rows), ...(cursor !== undefined && { cursor }) };
      const raw = await client.callRaw(searchPath(search, bounds, more), { signal });
      const answer = toAnswer(raw);
      return {
        lines: answer.rows.map((row) => toLine(row)),
        next: answer.next,
        hint: raw.headers.get('x-tailrace-hint') ?? undefined,
      };
    },
  };
}

const CATCH_UP_MS = 60_000;

/** The live tail of a search, whatever its range. */
export function createSearchTail(asked: Pick<Search, 'q' | 'source' | 'project'>): LineTail {
  return {
    path: searchPath(asked, undefined, {}),
    toLine,
    since(newest) {
      const nowMs = Date.now();
      const fromMs = newest === undefined ? nowMs - CATCH_UP_MS : Math.floor(newest.micros / 1000);
      return { fromMs, untilMs: nowMs + CATCH_UP_MS }; // clocks of senders may be ahead
    },
  };
}
