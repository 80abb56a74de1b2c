/** The reasons why a tail ends, and what the caller can do. Sent in the last event. */
export const END_REASONS = {
  key_revoked: 'the key is no longer accepted',
  key_expired: 'the key or token has expired',
  key_changed: 'the rights of the key have changed; connect again',
  definition_changed: 'the definition of the endpoint has changed; connect again without a cursor',
  slow_reader: 'the events are read too slowly; connect again with the last id',
  too_many_rows:
    'more rows came at once than a tail can read; connect again, and read the rows in between page by page',
  unavailable: 'the engine or the store of keys is unavailable; connect again with the last id',
  shutdown: 'the service is shutting down; connect again with the last id',
} as const;

export type EndReason = keyof typeof END_REASONS;

export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');

const ROW_END = Buffer.from('\n\n');

/** Returns the event of a row. @param row JSON on one line @returns pieces to be joined */
export function rowEvent(cursor: string, row: Buffer): Buffer[] {
  return [Buffer.from(`event: row\nid: ${cursor}\ndata: `), row, ROW_END];
}

/** Returns the last event of a tail. */
export function endEvent(reason: EndReason): Buffer {
  return Buffer.from(`event: end\ndata: ${JSON.stringify({ reason, message: END_REASONS[reason] })}\n\n`);
}
