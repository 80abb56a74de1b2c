import { isUtf8 } from 'node:buffer';
import { createMarkCounter, type Format, linesOf, type WireEvent } from '../body-format.ts';
import type { DocumentShape } from '../document.ts';
import { collectEvents } from './event-text.ts';
import { type Protocol, reasonsText } from './protocol.ts';

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

export const LOGPUSH_FORMATS = {
  logpush: {
    cut: (bytes, options) => collectEvents(lineEvents(bytes), options),
    countMarks: createMarkCounter('{[,\n'),
  },
} as const satisfies Readonly<Record<string, Format>>;

const TRIAL_BYTES_MAX = 100;
// What Cloudflare sends to a new destination, to see whether it may.
const TRIAL = /^\s*\{\s*"content"\s*:\s*"tests?"\s*\}\s*$/;
// The times of its data sets; the first that is there counts. The events of most have no text.
const TIMES = ['EdgeStartTimestamp', 'EventTimestampMs', 'Timestamp', 'Datetime', 'TimestampMs', 'When'];
const REQUEST = ['ClientRequestMethod', 'EdgeResponseStatus', 'ClientRequestHost', 'ClientRequestURI'];

const SHAPE: DocumentShape = { timestamp: TIMES, message: ['Message'], isKept: true, otherwise: REQUEST };
const DOCUMENT = { shape: SHAPE };

function* lineEvents(bytes: Buffer): Generator<WireEvent> {
  if (TRIAL.test(bytes.toString('latin1', 0, TRIAL_BYTES_MAX))) return;
  const isWhole = isUtf8(bytes);
  for (const { bytes: line } of linesOf(bytes))
    yield { line, document: DOCUMENT, isRepaired: !isWhole && !isUtf8(line) };
}
