import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEventFilter } from '../../src/definitions/accepts.ts';
import { parseEvent } from '../../src/ingest/event.ts';
import { createFilterCounts, findFilter, replaceInStrings } from '../../src/ingest/filter/filter.ts';
import { RejectedEvent } from '../../src/ingest/read-event.ts';
import { createColumn, createSource } from '../support/source.ts';

type Fields = Parameters<typeof createEventFilter>[0];

const RULES = { now: Date.UTC(2026, 10, 20) * 1_000, eventBytesMax: 1_000_000, project: 'aurora' };
const column = (name: string, type: 'string' | 'keyword') => createColumn(name, type, ['metadata', name]);

/** Returns what is stored of events, and how many each rule applied to. */
function pass(fields: Fields, events: readonly object[]) {
  const own = createEventFilter(fields);
  const source = createSource({
    messagePaths: [['metadata', 'text']],
    level: { column: 'level', status: undefined, warnFrom: 400, errorFrom: 500 },
    columns: [column('level', 'keyword'), column('trace_id', 'string'), column('email', 'string')],
    ...(own !== undefined && { filter: own }),
  });
  const filter = findFilter(source);
  const counts = createFilterCounts();
  const stored = events.flatMap((event) => {
    const parsed = parseEvent({ text: JSON.stringify(event) }, source, RULES);
    return filter?.(parsed, counts) ?? (filter === undefined ? parsed : []);
  });
  return { stored, counts };
}

const message = (event_message: string, metadata: object = {}) => ({ event_message, metadata });

test('drop leaves out what a search finds, and counts it', () => {
  const all = ['error', 'info', 'debug'].map((level) => message(level, { level }));
  const { stored, counts } = pass({ drop: ['level:debug', 'info'] }, all);
  expect(stored.map(({ message }) => message)).toEqual(['error']);
  expect(counts).toEqual({ drop: 2, redact: 0 });
});

describe('redact', () => {
  test('replaces a field wherever it stands, its typed column, and a message that was read from it', () => {
    const { stored, counts } = pass(
      { redact: [{ field: ['metadata.email', 'metadata.users.email', 'email', 'metadata.text'] }] },
      [
        {
          email: 'a@b.c',
          other: 1,
          metadata: { email: 'a@b.c', text: 'from a@b.c', n: 1, users: [{ email: 1 }, { x: 2 }, 'email'] },
        },
        message('nothing', { level: 'info', email: null }),
      ],
    );
    expect(stored[0]).toMatchObject({
      message: '[redacted]',
      metadata:
        '{"email":"[redacted]","text":"[redacted]","n":1,"users":[{"email":"[redacted]"},{"x":2},"email"]}',
      attributes: '{"email":"[redacted]","other":1}',
      typed: [null, null, '[redacted]'],
    });
    expect(stored[1]).toMatchObject({ message: 'nothing', metadata: '{"level":"info","email":null}' });
    expect(counts.redact).toBe(1);
  });

  test('replaces the message and its copies, under each of its names', () => {
    const secrets = [
      { metadata: { text: 'secret', n: 1 } },
      { event_message: 'secret', message: 'secret too', metadata: { text: 'other' } },
      { message: 'secret', metadata: { text: 'secret' } },
    ];
    for (const field of ['message', 'event_message'])
      expect(pass({ redact: [{ field }] }, secrets).stored).toMatchObject([
        { message: '[redacted]', metadata: '{"text":"[redacted]","n":1}' },
        { message: '[redacted]', metadata: '{"text":"other"}', attributes: '{"message":"[redacted]"}' },
        { message: '[redacted]', metadata: '{"text":"[redacted]"}' },
      ]);
  });

  test('ends with a pattern for which a sender chose a text that would take minutes', () => {
    const event = message('token='.repeat(20_000));
    expect(() => pass({ redact: [{ pattern: 'token(=.*;)?' }] }, [event])).toThrow(RejectedEvent);
    const { stored } = pass({ redact: [{ pattern: 'token(=\\w*;)?', with: 'x' }] }, [event]);
    expect(stored[0]?.message).toBe('x='.repeat(20_000));
  });

  test('rejects an event that its replacements would make larger than two events', () => {
    const redact = [{ pattern: 'a', with: 'b'.repeat(100) }];
    const large = message('a'.repeat(30_000));
    expect(() => pass({ redact }, [large])).toThrow('after redaction');
    expect(pass({ redact }, [message('a'.repeat(10_000))]).stored[0]?.message).toHaveLength(1_000_000);
  });

  test('replaces what a pattern finds in texts and numbers, but no names, ids or projects', () => {
    const { stored } = pass(
      { redact: [{ pattern: '(\\d{4})\\d{8,12}', with: '$1…' }, { pattern: 'aurora' }] },
      [
        {
          id: '4111111111111111',
          event_message: 'card 4111111111111111 of "aurora"',
          metadata: { '4111111111111111': 4111111111111111, email: 'x4111111111111111', list: ['aurora\n'] },
        },
      ],
    );
    expect(stored).toMatchObject([
      {
        id: '4111111111111111',
        project: 'aurora',
        message: 'card 4111… of "[redacted]"',
        metadata: '{"4111111111111111":"4111…","email":"x4111…","list":["[redacted]\\n"]}',
        typed: [null, null, 'x4111…'],
      },
    ]);
  });

  test('changes texts and numbers of any JSON, and nothing else', () => {
    const mark = (value: unknown): unknown => {
      if (typeof value === 'string') return `<${value}>`;
      if (typeof value === 'number') return `<${JSON.stringify(value)}>`;
      if (Array.isArray(value)) return value.map(mark);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mark(member)]));
    };
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(4), (value, space) => {
        const json = JSON.stringify(value, null, space);
        expect(JSON.parse(replaceInStrings(json, (text) => `<${text}>`))).toEqual(
          JSON.parse(JSON.stringify(mark(JSON.parse(json)))),
        );
      }),
    );
  });
});
