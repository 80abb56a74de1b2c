import { isUtf8 } from 'node:buffer';
import { createMarkCounter, type Format, linesOf, type WireEvent } from '../../body-format.ts';
import type { DocumentShape } from '../../document/plan.ts';
import { collectEvents } from '../event-text.ts';

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
