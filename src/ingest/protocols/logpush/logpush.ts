import { type Protocol, reasonsText } from '../protocol.ts';

/** Cloudflare's Logpush to an HTTP destination. */
export const logpush: Protocol = {
  docs: {
    title: 'Cloudflare Logpush',
    tested: 'its documented bodies',
    key: '`header_X-API-Key` in the destination’s query string',
    timestamp: '`EdgeStartTimestamp`, `EventTimestampMs`, `Timestamp`, `Datetime`, `TimestampMs` or `When`',
    message: '`Message`, else the request',
    project: 'none: pin the key, or add `header_X-Project`',
    metadata: 'all members',
    labels: '`ZoneName`, `ClientRequestHost`, other members',
    answers: '200 `{}`',
  },
  findKey: () => undefined,
  events: [
    {
      method: 'POST',
      path: '/drains/logpush',
      summary: 'Cloudflare’s Logpush',
      id: 'send_logpush',
      bodies: [{ type: /^/, shown: 'application/x-ndjson', format: 'logpush' }],
      respond: (receipt) =>
        receipt.refused === 0
          ? { status: 200, body: {} }
          : { status: 400, body: { error: reasonsText(receipt) } },
    },
  ],
  info: [],
  refuse: ({ status, message }) => ({ status, body: { error: message } }),
};
