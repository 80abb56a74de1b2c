import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ColumnType, Source, SourceColumn } from '../../src/definitions/source.ts';
import type { WireEvent } from '../../src/ingest/body-format.ts';
import { parseEvent } from '../../src/ingest/event.ts';
import { RefusedEvent } from '../../src/ingest/read-event.ts';
import { type BodyFormat, cutEvents } from '../../src/ingest/wire-events.ts';
import { runs } from '../support/property.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 7);
const column = (name: string, type: ColumnType, ...path: readonly string[]): SourceColumn => ({
  ...{ name, type, path, otherPaths: [], contains: undefined, otherwise: undefined },
  ...{ hasSubstringIndex: false, description: '' },
});
/** All paths lead into the metadata. */
const INNER: Source = {
  id: '00000000-0000-4000-8000-000000000000',
  ...{ name: 'logs', table: 'logs', description: '', retentionDays: 90 },
  projectPaths: [['project'], ['metadata', 'project'], ['metadata', 'tags', 'project']],
  messagePaths: [
    ['metadata', 'msg'],
    ['metadata', 'request'],
  ],
  columns: [
    column('level', 'keyword', 'metadata', 'level'),
    column('path', 'string', 'metadata', 'request', 'path'),
    column('message', 'string', 'metadata', 'message'),
    column('env', 'string', 'metadata', 'tags', 'env'),
  ],
  ...{ rollup: undefined, external: undefined, file: '' },
};
/** Some paths lead to what is written from other members. */
const OUTER: Source = {
  ...INNER,
  messagePaths: [['metadata', 'tags'], ['metadata']],
  columns: [...INNER.columns, column('text', 'string', 'event_message'), column('at', 'number', 'timestamp')],
};

type Members = Readonly<Record<string, unknown>>;
const CONTEXT = { service: 'shop', ddtags: 'env:prod,project:all', 'sent at': String(NOW_MS - 5) };
const COMMON = { project: 'common', level: 'notice' };

/** A protocol: the body of one document, and the event that its rules make of it. */
interface Case {
  readonly format: BodyFormat;
  readonly context?: Readonly<Record<string, string>>;
  readonly body: (document: string) => string;
  readonly event: (document: Members, text: string) => Members;
}

function take(
  document: Members,
  names: { readonly timestamp: readonly string[]; readonly message: readonly string[]; readonly id?: string },
) {
  const first = (all: readonly string[]) => all.find((name) => Object.hasOwn(document, name));
  const [time, message] = [first(names.timestamp), first(names.message)];
  const own = [time, message, names.id];
  const metadata = Object.fromEntries(Object.entries(document).filter(([name]) => !own.includes(name)));
  return {
    ...(names.id !== undefined && Object.hasOwn(document, names.id) && { id: document[names.id] }),
    ...(time !== undefined && { timestamp: document[time] }),
    ...(message !== undefined && { event_message: document[message] }),
    metadata,
  };
}

const PLAIN = { timestamp: ['timestamp'], message: ['message'] };
const PARTS = ['ClientRequestMethod', 'EdgeResponseStatus', 'ClientRequestHost', 'ClientRequestURI'];

const CASES: Readonly<Record<string, Case>> = {
  'a bulk request': {
    format: 'elasticsearch-bulk',
    body: (document) => `{"create":{}}\n${document}\n`,
    event: (document) => take(document, { timestamp: ['@timestamp', 'timestamp'], message: ['message'] }),
  },
  'a drain of Vercel': {
    format: 'vercel-json',
    body: (document) => `[ ${document} ]`,
    event: (document) => take(document, { ...PLAIN, id: 'id' }),
  },
  'lines of Vercel': {
    format: 'vercel-lines',
    body: (document) => `\n${document}\n`,
    event: (document) => take(document, { ...PLAIN, id: 'id' }),
  },
  Logpush: {
    format: 'logpush',
    body: (document) => document,
    event(document) {
      const { Message: message, Timestamp: timestamp } = document;
      const parts = PARTS.map((name) => document[name]).filter((part) =>
        ['string', 'number'].includes(typeof part),
      );
      return {
        ...(Object.hasOwn(document, 'Timestamp') && { timestamp }),
        event_message: typeof message === 'string' ? message : parts.join(' | '),
        metadata: document,
      };
    },
  },
  Datadog: {
    format: 'datadog-json',
    context: CONTEXT,
    body: (document) => document,
    event(document) {
      const { 'sent at': sentAt, ...shared } = CONTEXT;
      const { ddtags } = document;
      const tags = ddtags === undefined || ddtags === null ? shared.ddtags : ddtags;
      const map = typeof tags === 'string' && tagsOf(tags);
      const derived = map !== false && !Object.hasOwn(document, 'tags') && { tags: map };
      const { metadata, ...own } = take(document, {
        timestamp: ['timestamp', '@timestamp', 'date'],
        message: ['message'],
      });
      return { timestamp: sentAt, ...own, metadata: { ...shared, ...metadata, ...derived } };
    },
  },
  'Splunk’s collector': {
    format: 'splunk-events',
    body: (document) =>
      `{"host":"h","event":${document},"time":${NOW_MS},"fields":{"level":"notice","request":{"path":"/f"}}}`,
    event(document, text) {
      const { message, ...rest } = document;
      const isNested = typeof message === 'object' && message !== null && !Array.isArray(message);
      const merged: Members = isNested ? { ...rest, ...message } : document;
      const hasText = ['message', 'msg'].some((name) => Object.hasOwn(merged, name));
      const inner = isNested && !hasText ? { ...merged, message } : merged;
      const { metadata, ...own } = take(inner, { timestamp: [], message: ['message', 'msg'] });
      const shared = { host: 'h', level: 'notice', request: { path: '/f' } };
      return {
        timestamp: NOW_MS,
        event_message: new Raw(text),
        ...own,
        metadata: { ...shared, ...metadata },
      };
    },
  },
  Firehose: {
    format: 'firehose',
    context: { attributes: JSON.stringify({ commonAttributes: COMMON }) },
    body: (document) =>
      JSON.stringify({ timestamp: NOW_MS, records: [{ data: Buffer.from(document).toString('base64') }] }),
    event(document) {
      const { metadata, ...own } = take(document, PLAIN);
      return { timestamp: NOW_MS, ...own, metadata: { ...COMMON, ...metadata } };
    },
  },
  Loki: {
    format: 'loki-json',
    body: (document) =>
      `{"streams":[{"values":[["${NOW_MS}000000","line \\u0041",${document}]],"stream":${JSON.stringify(COMMON)}}]}`,
    event: (document) => ({
      ...{ timestamp: `${NOW_MS}000000`, event_message: 'line A' },
      metadata: { ...COMMON, ...document },
    }),
  },
};

function tagsOf(text: string) {
  const tags = text.split(',').map((tag) => tag.trim().split(':'));
  const named = tags.filter(([name]) => name !== '');
  return Object.fromEntries(named.map(([name, ...value]) => [name, value.join(':')]));
}

/** JSON text that is written as it is. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const names = fc.constantFrom(
  ...['message', 'message', 'timestamp', '@timestamp', 'date', 'Timestamp', 'Message', 'id', 'msg'],
  ...['project', 'level', 'request', 'tags', 'ddtags', 'service', 'host', 'metadata', 'event_message'],
  ...['mess\\u0061ge', '\\u0070roject', 'time\\u0073tamp', '__proto__', 'constructor', '', '1', 'a.b', 'ü'],
  ...PARTS,
);
const values = fc.oneof(
  fc.constantFrom('null', '"GET"', '"error"', '503', 'true', '[]', '{}', '[{"a":1}]', '"a\\nb"', '"\\ud800"'),
  fc.constantFrom(
    '{"path":"/x"}',
    '{"message":"m","n":1}',
    '{"project":"p","env":"e"}',
    '"env:dev,project:q"',
  ),
  fc.string({ unit: 'grapheme', maxLength: 5 }).map((text) => JSON.stringify(text)),
);
const times = fc.constantFrom(`${NOW_MS}`, '"2026-11-20T06:59:59Z"', 'null', '"soon"');
const member = fc
  .tuple(names, values, times)
  .map(([name, value, time]) => `"${name}":${/time|date/i.test(name) ? time : value}`);
const gap = fc.constantFrom('', '', ' ', '\t');
const documents = fc
  .tuple(fc.array(member, { maxLength: 8 }), gap)
  .map(([members, space]) => `{${space}${members.join(`${space},${space}`)}${space}}`);

function write(value: Members): string {
  const texts = Object.entries(value).map(
    ([name, one]) => `"${name}":${one instanceof Raw ? one.text : JSON.stringify(one)}`,
  );
  return `{${texts.join(',')}}`;
}

/** The row of an event, or why it is rejected. */
function read(wire: WireEvent, source: Source, hasId: boolean): unknown {
  try {
    const rules = { now: NOW_MS * 1_000, eventBytesMax: 100_000, project: 'none' };
    const { id, metadata, ...event } = parseEvent(wire, source, rules);
    return { ...event, ...(hasId && { id }), metadata: JSON.parse(metadata) };
  } catch (error) {
    if (error instanceof RefusedEvent) return error.message;
    throw error;
  }
}

describe.each(Object.entries(CASES))('%s', (_, { format, context = {}, body, event }) => {
  test.each([
    ['within the metadata', INNER],
    ['to other members', OUTER],
  ])('stores each document as the event that its rules write, with paths %s', (__, source) => {
    fc.assert(
      fc.property(documents, (text) => {
        const bytes = Buffer.from(body(text));
        const { events } = cutEvents(bytes, format, { context, decodedBytesMax: 100_000 });
        const [wire, ...others] = events;
        if (wire === undefined || others.length > 0) throw new Error('a body has one event');
        const document = JSON.parse(text) as Members;
        const expected = event(document, text);
        const id = expected['id'];
        const hasId = id !== undefined && id !== null && id !== '';
        const same = read({ text: write(expected) }, source, hasId);
        const stored = read(wire, source, hasId);
        // `metadata` as the message is its exact text, which this test writes anew.
        if (source === OUTER && !Object.hasOwn(expected, 'event_message') && typeof stored === 'object')
          expect({ ...stored, message: '' }).toEqual({ ...(same as object), message: '' });
        else expect(stored).toEqual(same);
      }),
      runs(500),
    );
  });
});
