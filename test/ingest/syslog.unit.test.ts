import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSyslog } from '../../src/config/syslog.ts';
import { createFramer } from '../../src/ingest/protocols/syslog/framer.ts';
import { parseLine } from '../../src/ingest/protocols/syslog/syslog.ts';

const NOW = Date.UTC(2026, 0, 2, 12);

describe('a line', () => {
  const USER = { level: 'notice', facility: 'user' };
  const AUTH = { level: 'crit', facility: 'auth' };

  test.each([
    [
      '<165>1 2026-01-02T11:00:00.123456Z web1 shop 42 ID7 [tailrace@1 project="aurora"][x@2 a="q\\"\\\\\\]" b=""] \ufeffErr "1"',
      {
        ...{ time: '2026-01-02T11:00:00.123456Z', message: 'Err "1"', project: 'aurora', level: 'notice' },
        ...{ facility: 'local4', host: 'web1', app: 'shop', process: '42', message_id: 'ID7' },
        data: { 'tailrace@1': { project: 'aurora' }, 'x@2': { a: 'q"\\]', b: '' } },
      },
    ],
    ['<0>1 - - - - - -', { message: '', level: 'emerg', facility: 'kern' }],
    ['<13>1 never h a - - [broken x] m', { ...USER, message: '[broken x] m', host: 'h', app: 'a' }],
    [
      '<34>Jan  1 23:59:59 mymachine su[7]: failed: x\0\n',
      {
        ...{ ...AUTH, time: '2026-01-01T23:59:59Z', message: 'failed: x' },
        ...{ host: 'mymachine', app: 'su', process: '7' },
      },
    ],
    [
      '<34>Dec 31 23:59:59 h app: last year',
      { ...AUTH, time: '2025-12-31T23:59:59Z', message: 'last year', host: 'h', app: 'app' },
    ],
    [
      '<13>2026-01-02T11:00:00+01:00 h tag[1]: iso',
      { ...USER, time: '2026-01-02T11:00:00+01:00', message: 'iso', host: 'h', app: 'tag', process: '1' },
    ],
    ['<13>Feb 31 11:00:00 h a: x', { ...USER, message: 'x', host: 'h', app: 'a' }],
    ['<999>text', { message: '<999>text' }],
  ])('%j', (line, expected) => {
    expect(JSON.parse(JSON.stringify(parseLine(line, NOW)))).toEqual(expected);
  });

  test('of any kind has a message, and of a project only what structured data names', () => {
    const piece = fc.constantFrom('<13>', '1 ', '- ', 'Jan  1 10:00:00 ', '[a b="c"]', ...'[]"\\: x');
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 5 })), { maxLength: 20 }), (parts) => {
        const { message, project } = parseLine(parts.join(''), NOW);
        expect([typeof message, project]).toEqual(['string', undefined]);
      }),
    );
  });
});

describe('a connection', () => {
  const cut = (chunks: readonly Buffer[], bytesMax = 100) => {
    let tooLong = 0;
    const framer = createFramer(bytesMax, () => tooLong++);
    const lines = [...chunks.flatMap((chunk) => framer.push(chunk)), ...framer.end()];
    return { lines: lines.map(String), tooLong };
  };
  const split = (text: string, size: number) => {
    const bytes = Buffer.from(text);
    const count = Math.ceil(bytes.length / size);
    return Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
  };

  test('may frame each line by its length or its end, in chunks of any size', () => {
    const line = fc.tuple(fc.stringMatching(/^<1[3-9]>[a-zé ]{0,30}$/), fc.boolean());
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.integer({ min: 1, max: 40 }), (lines, size) => {
        const sent = lines.map(([text, isCounted]) =>
          isCounted ? `${Buffer.byteLength(text)} ${text}` : `${text}\n`,
        );
        expect(cut(split(sent.join(''), size)).lines).toEqual(lines.map(([text]) => text));
      }),
    );
  });

  test('loses only lines that are too long, and keeps one that has no end', () => {
    const long = 'x'.repeat(150);
    const sent = `<13>a\n${long}\n<13>b\n150 ${long}<13>c\n\n\n150 ${long}3 abc<13>end`;
    for (const size of [1, 7, 64, 1_000])
      expect(cut(split(sent, size))).toEqual({
        lines: ['<13>a', '<13>b', '<13>c', 'abc', '<13>end'],
        tooLong: 3,
      });
  });
});

describe('the setting', () => {
  test('names ports', () => {
    const tls = 'tls://0.0.0.0:6514/?ca=/x.pem&allow=10.0.0.0/8,::1';
    expect(readSyslog(` udp://[::1]:514?project=a  ${tls} `)).toEqual([
      { transport: 'udp', host: '::1', port: 514, project: 'a', allow: [], clientCaFile: '' },
      {
        ...{ transport: 'tls', host: '0.0.0.0', port: 6514, project: '' },
        ...{ allow: ['10.0.0.0/8', '::1'], clientCaFile: '/x.pem' },
      },
    ]);
  });

  test.each([
    ['allow=0.0.0.0/0', /^has "0\.0\.0\.0\/0" in allow; /],
    ['allow=10.0.0.0/8,::/0', /^has "::\/0" in allow; /],
    ['alow=10.0.0.0/8', /^has the unknown parameter "alow"/],
    ['ca=/x.pem', /^has ca for tcp/],
  ])('refuses what would let in more than was meant: %s', (query, message) => {
    expect(() => readSyslog(`tcp://0.0.0.0:6514?${query}`)).toThrow(message);
  });
});
