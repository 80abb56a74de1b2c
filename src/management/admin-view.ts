import { type Static, Type } from 'typebox';
import { count, instant, instantOrNull, list, oneOf, orNull, text, textOrNull } from '../lib/schema.ts';

// As view.ts: the console may import this file, so this file must not import the service.

const MINUTE = Type.Object({
  at: instant('Start of the minute.'),
  requests: count('Requests that ended in this minute.'),
  failures: count('Requests that failed.'),
  p50_ms: orNull(Type.Number()),
  p99_ms: orNull(Type.Number()),
});

export const TRAFFIC = Type.Object({
  name: text(),
  requests_per_minute: Type.Number({ description: 'Over the last minute.' }),
  requests: count('Requests in the window, as all below.'),
  failures: count('Requests that failed.'),
  failure_codes: Type.Record(Type.String(), Type.Integer()),
  p50_ms: orNull(Type.Number({ description: 'Time from request to response, by nearest rank, within 4 %.' })),
  p99_ms: orNull(Type.Number()),
  hit_ratio: orNull(
    Type.Number({ description: 'Answers from the cache of all answers; null: not cached, or none.' }),
  ),
  rows: count('Rows returned.'),
  last_failure: orNull(
    Type.Object({ code: text(), at: instant() }, { description: 'Counts since the start.' }),
  ),
  minutes: list(MINUTE, 'The last hour, oldest first.'),
});
export type Traffic = Static<typeof TRAFFIC>;

const SOURCE_STATE = Type.Object({
  name: text(),
  table: text(),
  rows: count('Events stored.'),
  bytes: count('Bytes on disk.'),
  oldest: instantOrNull('Time of the oldest event.'),
  newest: instantOrNull('Time of the newest event.'),
  events_per_second: Type.Number({ description: 'Events received in the last minute.' }),
  without_project: count(
    'Events received since the start that belong to no project: keys that pin one cannot read them.',
  ),
  minutes: list(Type.Integer(), 'Events received, minute by minute, oldest first.'),
});
export type SourceState = Static<typeof SOURCE_STATE>;

const NOTICE = Type.Object({
  topic: oneOf(['retention', 'storing', 'alerts', 'roles']),
  message: text('What is wrong, and what to do.'),
});
export type Notice = Static<typeof NOTICE>;

export const OVERVIEW = Type.Object({
  at: instant(),
  started_at: instant(),
  notices: list(NOTICE, 'Problems that an operator has to solve.'),
  window_seconds: count('Range of the counts: an hour, or less after a start.'),
  endpoints: list(TRAFFIC),
  search: orNull({
    ...TRAFFIC,
    description: 'Traffic of searches; null for a key that is limited to endpoints.',
  }),
  sources: list(SOURCE_STATE),
  engine: Type.Object({
    state: oneOf(['ready', 'stopping', 'unavailable']),
    message: textOrNull(),
    running: count('Running queries.'),
    queued: count('Waiting queries.'),
    readers: count('Queries that may run at once.'),
    restarts: count('Times that the engine process was started again.'),
    memory_bytes: orNull(
      count('Resident memory of the engine process; null: a server, whose memory is unknown.'),
    ),
  }),
  store: Type.Object({
    read_at: instantOrNull('When sizes and times of the sources were read; null: not yet.'),
    rows: count('Events in all sources that this key may know of.'),
    bytes: count('Their bytes on disk.'),
    cache_entries: count('Answers kept.'),
    cache_bytes: count('Their bytes.'),
    cache_bytes_max: count('Most bytes that may be kept.'),
    ingest_queued_bytes: count('Events that wait to be stored.'),
  }),
});
export type Overview = Static<typeof OVERVIEW>;

const SEEN = {
  count: count('How many.'),
  first_at: instant('When the first of them came.'),
  last_at: instant('When the last of them came.'),
};
const SINCE = instant('Start of this process, which keeps them in memory.');

export const REJECTED_REQUESTS = Type.Object({
  since: SINCE,
  result: list(
    Type.Object({
      code: text('The error code.'),
      status: Type.Integer(),
      reason: textOrNull('Why the key was rejected, such as `unknown`.'),
      method: text(),
      route: text(),
      key: textOrNull('Id of the accepted key; null: none.'),
      address: text('Address of the client.'),
      ...SEEN,
      message: textOrNull('The last message; null for keys that may not read all events.'),
    }),
    'By reason, route, key and address, the last one first.',
  ),
});
export type RejectedRequestsView = Static<typeof REJECTED_REQUESTS>;

export const REJECTED_EVENTS = Type.Object({
  since: SINCE,
  result: list(
    Type.Object({
      source: text('Empty: no source accepts them.'),
      reason: text('Completes the sentence "the event …"; `…` varies.'),
      key: textOrNull('Id of the key that sent them; null if this key may not know it.'),
      ...SEEN,
      last: orNull(
        Type.Object(
          {
            reason: text('The whole reason.'),
            event: textOrNull(
              'Start of the event; null: its source has a rule `redact`, or it was not readable.',
            ),
          },
          { description: 'The last one; null for keys that may not read such events.' },
        ),
      ),
    }),
    'By source, reason and key, the last one first.',
  ),
});
export type RejectedEventsView = Static<typeof REJECTED_EVENTS>;
