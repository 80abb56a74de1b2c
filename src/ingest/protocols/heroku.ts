import { isUtf8 } from 'node:buffer';
import { headerOf } from '../../lib/header.ts';
import type { BodyContext, Format, WireEvent } from '../body-format.ts';
import { collectEvents, writeObject } from './event-text.ts';
import { countFrames, readFrames, severityOf } from './frames.ts';
import { findBasicKey, type Protocol, reasonsText } from './protocol.ts';

const TEXT = 'text/plain; charset=utf-8';

/** Heroku's HTTPS log drains. */
export const heroku: Protocol = {
  docs: {
    title: 'Heroku log drains',
    tested: 'its documented frames',
    key: 'password in the drain’s address',
    timestamp: 'time of the line',
    message: 'text of the line',
    project: 'none: pin the key',
    metadata: '`level`, `app`, `process`, `hostname`, `drain`',
    labels: '`app`, `process`, `hostname`, `drain`',
    answers: '204 if any is stored',
  },
  findKey: findBasicKey,
  events: [
    {
      method: 'POST',
      path: '/drains/heroku',
      summary: 'Heroku’s log drains',
      id: 'send_heroku',
      bodies: [{ type: /^application\/logplex-1(?:;|$)/i, shown: 'application/logplex-1', format: 'heroku' }],
      repeatHeader: 'logplex-frame-id',
      context(request) {
        const drain = headerOf(request, 'logplex-drain-token');
        return drain === undefined ? {} : { [DRAIN]: drain };
      },
      respond: (receipt) =>
        receipt.refused === 0 || receipt.stored > 0
          ? { status: 204 }
          : { status: 400, type: TEXT, body: reasonsText(receipt) },
    },
  ],
  info: [],
  refuse: ({ status, message }) => ({ status, type: TEXT, body: message }),
};

export const HEROKU_FORMATS = {
  heroku: {
    cut: (bytes, options) => collectEvents(frameEvents(bytes, options.context), options),
    countMarks: countFrames,
  },
} as const satisfies Readonly<Record<string, Format>>;

/** The context's name of the drain. */
const DRAIN = 'drain';

// `<40>1 2012-11-30T06:45:29+00:00 host app web.3 - State changed`: RFC 5424 without structured data.
const LINE = /^<(\d{1,3})>\d{1,2} (\S{1,64}) (\S{1,255}) (\S{1,255}) (\S{1,255}) \S{1,255} ?/;

const LESS_THAN = 0x3c;
const NO_LINE: WireEvent = { refused: 'is not a line of syslog, such as <40>1 <time> host app web.3 - text' };

function* frameEvents(bytes: Buffer, context: BodyContext): Generator<WireEvent> {
  for (const frame of readFrames(bytes)) {
    if (frame.length === 0) continue; // as an empty line
    const event = frame[0] === LESS_THAN ? toEvent(frame.toString(), context) : NO_LINE;
    yield isUtf8(frame) ? event : { ...event, isRepaired: true };
  }
}

function toEvent(frame: string, context: BodyContext): WireEvent {
  const [head, priority = '', time = '', hostname = '', app = '', process = ''] = LINE.exec(frame) ?? [];
  if (head === undefined) return NO_LINE;
  const drain = context[DRAIN];
  const metadata = {
    level: severityOf(Number(priority)),
    ...{ app, process, hostname },
    ...(drain !== undefined && { drain }),
  };
  const message = frame.slice(head.length).replace(/\n$/, '');
  return {
    text: writeObject([
      ['timestamp', JSON.stringify(time)],
      ['event_message', JSON.stringify(message)],
      ['metadata', JSON.stringify(metadata)],
    ]),
    labels: metadata,
  };
}
