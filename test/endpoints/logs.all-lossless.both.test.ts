import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countNames, json, parseByHex } from '../support/json-text.ts';
import { runs } from '../support/property.ts';
import { ownService, storeEvents } from '../support/service.ts';
import { ask, parseRows } from './support.ts';

const SOURCE = 'cloudflare.logs.prod';
const now = Date.parse('2028-02-29T23:59:59.999Z');

const service = await ownService({ now });
let cases = 0;

/** The whole answer to events whose metadata is the given texts, the first being the newest. */
async function answerTo(metadata: readonly string[]) {
  const project = `raw-${cases++}`;
  const at = (i: number) => now * 1000 - i;
  const lines = metadata.map(
    (text, i) =>
      `{"metadata":${text},"id":"e${i}","timestamp":${at(i)},"project":"${project}","event_message":"m"}`,
  );
  await storeEvents(service.core, SOURCE, lines, now);
  const { text } = await ask(service.url, 'logs.all', { project });
  return { text, at };
}

/** Compared as text: reading it as JSON would hide what differs. */
async function expectLossless(metadata: readonly string[]): Promise<void> {
  const { text, at } = await answerTo(metadata);
  const rows = metadata.map(
    (json, i) => `{"id":"e${i}","timestamp":${at(i)},"event_message":"m","metadata":${json.trim()}}`,
  );
  expect(text).toBe(`{"result":[${rows.join(',')}]}`);
}

describe('metadata comes back in the text that came in', () => {
  test.for([
    ['empty arrays and objects', '{"a":[],"b":{},"c":[[],{}]}'],
    ['the order of names, those that look like numbers too', '{"b":1,"10":2,"a":3,"2":4}'],
    ['integers above 2^53', '{"n":9007199254740993,"m":-9223372036854775809,"k":18446744073709551616}'],
    ['numbers as they were spelt', '[1.0,1e2,-0,1E400,0.10]'],
    ['unicode', '{"é😀":"日本 \u2028\u2029\ufeff"}'],
    ['escapes', String.raw`{"a":"\u0000\u001f\ud83d\ude00\/\"\\","\u0062":1}`],
    ['halves of surrogate pairs', String.raw`{"a":"\ud800","b":"\udc00x\ud800","\udfff":1}`],
    ['names that mean something in JavaScript', '{"__proto__":{"x":1},"constructor":null,"toString":[]}'],
    ['white space between tokens', '{ "a" :\t[ 1 , 2 ] , "b" : { } }'],
    ['what ends a row or an answer', '{"]}":"}],\\n","result":"{\\"result\\":[]}"}'],
    ['a list', '[{"a":1}]'],
  ])('%s', ([, json]) => expectLossless([json ?? '']));

  test('any JSON', async () => {
    // Of equal names in an object, the last counts.
    const isUnique = (text: string) => countNames(text) === countNames(JSON.stringify(parseByHex(text)));
    const line = json.filter(isUnique).map((text) => text.replaceAll(/[\r\n]/g, ' '));
    const metadata = fc.array(line, { minLength: 1, maxLength: 100, size: 'max' });
    await fc.assert(fc.asyncProperty(metadata, expectLossless), runs(40));
  });

  test('a megabyte of it', () => expectLossless([`{"a":"${'x'.repeat(1_000_000)}"}`]));

  test('line breaks between its tokens become spaces, so that each row stays one line', async () => {
    const { text } = await answerTo(['{\n"a":\r\n1}', '[\n]']);
    expect(parseRows(text).map((row) => row['metadata'])).toEqual([{ a: 1 }, []]);
    expect(text).not.toMatch(/[\r\n]/);
  });
});

describe('texts of an event', () => {
  test('come back as any string of unicode', async () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { minLength: 1, maxLength: 40 });
    const property = fc.asyncProperty(texts, async (messages) => {
      const project = `text-${cases++}`;
      const events = messages.map((text, i) => {
        return { id: `${i}${text}`, timestamp: now * 1000 - i, project, event_message: text };
      });
      await storeEvents(service.core, SOURCE, events, now);
      const { rows } = await ask(service.url, 'logs.all', { project });
      expect(rows.map((row) => [row['id'], row['event_message']])).toEqual(
        events.map((event) => [event.id.toWellFormed(), event.event_message.toWellFormed()]),
      );
    });
    await fc.assert(property, runs(20));
  });

  // The engine refused the whole batch for one of them.
  test('may hold half a surrogate pair, which becomes U+FFFD and harms no other event', async () => {
    const [half, project] = ['\ud800', 'halves'];
    const strange: object[] = [
      { event_message: half },
      { id: half },
      { metadata: { request: { path: half, url: half, method: half } } },
      { [half]: half },
      { event_message: `\udc00${half}a` },
    ];
    const events = strange.map((one, i) => ({ id: `${i}`, timestamp: now * 1000 - i, project, ...one }));
    const other = { id: 'other', timestamp: now * 1000 - 100, project: `${project}${half}` };
    await storeEvents(service.core, SOURCE, [...events, other], now);
    const { rows } = await ask(service.url, 'logs.all', { project });
    expect(rows.map((row) => row['id'])).toEqual(['0', '\ufffd', '2', '3', '4']);
    expect(rows.map((row) => row['event_message'])).toEqual(['\ufffd', '', '', '', '\ufffd\ufffda']);
    const others = await ask(service.url, 'logs.all', { project: `${project}\ufffd` });
    expect(others.rows.map((row) => row['id'])).toEqual(['other']);
  });
});
