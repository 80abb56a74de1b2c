import { isUtf8 } from 'node:buffer';
import { type BodyContext, createMarkCounter, type Format, type WireEvent } from '../../body-format.ts';
import { collectEvents, writeObject } from '../event-text.ts';
import { readFrames } from '../frames.ts';
import { parseLine } from './line.ts';

export const SYSLOG_FORMATS = {
  // Frames of RFC 6587, however the lines came.
  syslog: {
    cut: (bytes, options) => collectEvents(frameEvents(bytes, options.context), options),
    countMarks: createMarkCounter('<="'),
  },
} as const satisfies Readonly<Record<string, Format>>;

/** The context's name of the time of arrival, ms since the epoch, by which times without a year are read. */
export const ARRIVED = 'arrived';

function* frameEvents(bytes: Buffer, context: BodyContext): Generator<WireEvent> {
  const nowMs = Number(context[ARRIVED]);
  for (const frame of readFrames(bytes)) {
    const event = toEvent(frame.toString(), nowMs);
    yield isUtf8(frame) ? event : { ...event, isRepaired: true };
  }
}

function toEvent(line: string, nowMs: number): WireEvent {
  const { time, message, project, ...metadata } = parseLine(line, nowMs);
  return {
    text: writeObject([
      ['timestamp', time === undefined ? undefined : JSON.stringify(time)],
      ['project', project === undefined ? undefined : JSON.stringify(project)],
      ['event_message', JSON.stringify(message)],
      ['metadata', JSON.stringify(metadata)],
    ]),
    labels: metadata,
  };
}
