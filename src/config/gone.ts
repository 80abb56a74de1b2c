/**
 * Settings of older builds, by name: what stands in their place. The check of misspelt names tells it
 * (`gone: …`); nothing else reads them. One line each, in the order of the names.
 */
export const GONE_SETTINGS: Readonly<Record<string, string>> = {
  TAILRACE_AUTH_FAILURES_PER_MINUTE_MAX: '600 requests a minute without a valid key from one address',
  TAILRACE_CONTROL_STALE_SECONDS: 'known keys are accepted for 60 s',
  TAILRACE_DECODED_BYTES_MAX: 'a body has at most four times TAILRACE_BODY_BYTES_MAX after decompression',
  TAILRACE_EVENT_BYTES_MAX: 'an event has at most 1 MiB',
  TAILRACE_INGEST_QUEUE_BYTES_MAX: '128 MiB of events may wait to be decoded, and as many to be stored',
  TAILRACE_INGEST_WAIT_MS: 'events wait 5 ms to be stored with others',
  TAILRACE_INGEST_WAIT_MS_MAX: 'events wait at most about 2 s',
  TAILRACE_MCP_BYTES_MAX: 'an answer to an agent has at most 51,200 bytes of rows',
  TAILRACE_PARAMETER_BYTES_MAX: 'a value of a parameter has at most 65,536 bytes',
  TAILRACE_QUERY_MEMORY_BYTES_MAX: 'a query has a quarter of TAILRACE_ENGINE_MEMORY_BYTES_MAX',
  TAILRACE_QUERY_QUEUE_MAX: '1,000 queries may wait for a reader',
  TAILRACE_QUERY_QUEUE_PER_KEY_MAX: '100 queries of a key may wait for a reader',
  TAILRACE_QUERY_QUEUE_PER_TOKEN_MAX: '20 queries of a token may wait for a reader',
  TAILRACE_QUERY_QUEUE_TIMEOUT_MS: 'a query waits at most 5 s for a reader',
  TAILRACE_RATE_BURST: 'a key without its own rate may send the requests of one second at once',
  TAILRACE_RATIO_MAX: 'a body may grow to 200 times its size by decompression',
  TAILRACE_RESULT_BYTES_MAX: 'an answer has at most 64 MiB',
  TAILRACE_SANDBOX_SQL_BYTES_MAX: 'a SELECT of a caller has at most 16,384 bytes',
  TAILRACE_SEARCH_BYTES_MAX: 'a search has at most 8,192 bytes',
  TAILRACE_SEARCH_CLAUSES_MAX: 'a search has at most 128 words, phrases and conditions',
  TAILRACE_SESSION_MINUTES_MAX: 'a session of the console ends after a day at the latest',
  TAILRACE_TAILS_MAX: '2,000 live tails may be open',
  TAILRACE_TAILS_PER_KEY_MAX: '100 live tails of a key may be open',
  TAILRACE_TAIL_BUFFER_BYTES_MAX: 'a live tail holds at most 1 MiB of unread events',
  TAILRACE_URL_BYTES_MAX: 'a URL has at most 262,144 bytes',
};
