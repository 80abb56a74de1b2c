import { type Protocol, reasonsText } from '../protocol.ts';

/** Cloudflare's Logpush to an HTTP destination. */
export const logpush: Protocol = {
  docs: {
    title: 'Cloudflare Logpush',
    tested: 'bodies as Cloudflare documents them',
    untested: 'Cloudflare',
    key: '`header_X-API-Key` in the destination’s query string, which Cloudflare sends as a header',
    timestamp: '`EdgeStartTimestamp`, `EventTimestampMs`, `Timestamp`, `Datetime`, `TimestampMs` or `When`',
    message: '`Message`, else method, status, host and path of the request',
    project: 'none: pin the key, or add `header_X-Project`',
    metadata: 'all members',
    labels: '`ZoneName`, `ClientRequestHost`, other members',
    answers: '200 `{}`; 400 with the reasons if some are rejected; 503',
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
