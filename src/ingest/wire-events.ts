import { TailraceError } from '../errors.ts';
import {
  type BodyFormat,
  type CutOptions,
  countJsonMarks,
  createMarkCounter,
  type Format,
  linesOf,
  malformedJson,
  rejectTooMany,
  rejectUnreadable,
  type WireEvents,
  withoutMark,
} from './body-format.ts';
import { NOT_JSON, OPEN_BRACKET, planPaths } from './json/grammar.ts';
import { type JsonPlace, type JsonScan, scanJson } from './json/scan.ts';
import { ELASTICSEARCH_FORMATS } from './protocols/elasticsearch.ts';
import { LOKI_FORMATS } from './protocols/loki.ts';
import { OTLP_FORMATS } from './protocols/otlp.ts';
import { NAMING_MEMBERS } from './source-name.ts';

const FORMATS: Readonly<Record<BodyFormat, Format>> = {
  json: { cut: cutJson, countMarks: countJsonMarks },
  ndjson: { cut: cutLines, countMarks: createMarkCounter('{[,\n') },
  ...OTLP_FORMATS,
  ...LOKI_FORMATS,
  ...ELASTICSEARCH_FORMATS,
};

/** Cuts a request body into events. @throws TailraceError as `Format.cut` */
export function cutEvents(bytes: Buffer, format: BodyFormat, options: CutOptions): WireEvents {
  const { cut, isBinary } = FORMATS[format];
  return cut(isBinary ? bytes : withoutMark(bytes), options);
}

export const countMarks = (bytes: Uint8Array, format: BodyFormat) => FORMATS[format].countMarks(bytes);

/** Cuts a JSON body: an array of events, `{"batch": […]}`, or one event. */
function cutJson(bytes: Buffer): WireEvents {
  rejectUnreadable(bytes);
  const body = scanBody(bytes);
  if (body.kind === 'array') return listOf(cutElements(bytes, body));
  if (body.kind === 'scalar') {
    const message = 'the body must be an array of events, {"batch": […]} or one event';
    throw new TailraceError('invalid_request', message);
  }
  const [batch, ...names] = [...BODY.slots.values()].map((slot) => body.values[slot]);
  const fields = Object.fromEntries(NAMING_MEMBERS.map((name, i) => [name, names[i]]));
  const place = typeof batch === 'object' && batch !== null ? (batch as JsonPlace) : undefined; // as scans return them
  if (place === undefined || bytes[place.start] !== OPEN_BRACKET) return { ...listOf([bytes]), fields };
  const list = bytes.subarray(place.start, place.end);
  return { ...listOf(cutElements(list, scanJson(list))), fields };
}

/** The members that say something about the body. */
const BODY = planPaths(['batch', ...NAMING_MEMBERS].map((name) => [name]));

/** Makes an event of each line of a body. */
const listOf = (lines: readonly Buffer[]): WireEvents => ({
  events: lines.map((line) => ({ line })),
  count: lines.length,
});

function scanBody(bytes: Buffer): JsonScan {
  try {
    return scanJson(bytes, { paths: BODY });
  } catch (error) {
    throw error === NOT_JSON ? malformedJson(bytes.toString(), error) : error;
  }
}

function cutElements(bytes: Buffer, { spans }: JsonScan): Buffer[] {
  rejectTooMany(spans.length / 2);
  const elements: Buffer[] = [];
  for (let i = 0; i < spans.length; i += 2) elements.push(bytes.subarray(spans[i], spans[i + 1]));
  return elements;
}

/** Lines stay bytes until each is parsed: all of their text at once would burden the garbage collector. */
function cutLines(bytes: Buffer): WireEvents {
  const lines = [...linesOf(bytes)].map((line) => line.bytes);
  rejectTooMany(lines.length);
  return listOf(lines);
}
