import { describe, expect, test } from 'vitest';
import { formatJson, parseCacheStatus, parseJson } from '../../console/src/api/answer.ts';
import { ApiError, parseAnswer } from '../../console/src/api/client.ts';
import { ownMember } from '../../console/src/format/values.ts';
import { formatValue, toLine, valueAt } from '../../console/src/page/explore/lines/line.ts';
import { SENDERS, type SenderTarget, writeSender } from '../../console/src/page/send/senders.ts';
import { OWN, valuesIn } from '../../console/src/ui/page-address.ts';

test('integers beyond 2^53 stay exact, in and out', () => {
  const text = '{"a":9007199254740993,"b":[1,2.5,-9007199254740995],"c":"9007199254740993","d":1e300}';
  expect(formatJson(parseJson(text), 0)).toBe(text.replace('1e300', '1e+300'));
});

test.each([
  ['Tailrace; hit; ttl=612', 'hit'],
  ['Tailrace; fwd=miss; stored', 'miss'],
  ['Tailrace; fwd=miss; collapsed', 'collapsed'],
  ['Tailrace; hit; ttl=-12; fwd=stale; fwd-status=503; detail=stale-if-error', 'stale'],
])('Cache-Status %s is %s', (header, state) => {
  expect(parseCacheStatus(header)).toBe(state);
});

test('an address has the values of parameters, of any name and text, beside what the page has of its own', () => {
  const query = new URLSearchParams({ project: 'a&b', view: 'x', [`${OWN}view`]: 'json', other: 'y' });
  const parameters = ['project', 'view', 'function_id'].map((name) => ({ name }));
  expect(valuesIn(new URLSearchParams(`${query}`), parameters)).toEqual({ project: 'a&b', view: 'x' });
});

/** What every object inherits: names that a caller may use like any other. */
const INHERITED = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];

describe('an answer of another shape', () => {
  const answer = (text: string) => ({ text, status: 200 });

  test.each([['null'], ['"result"'], ['{}'], ['{"result":[null]}'], ['{"result":"none"}'], ['<html>']])(
    '%s is an error that says so, not a value',
    (text) => {
      expect(() => parseAnswer<{ result: string[] }>(answer(text), ['result'])).toThrow(ApiError);
      expect(() => parseAnswer<{ result: string[] }>(answer(text), ['result'])).toThrow(/not from Tailrace/);
    },
  );

  test('has each member itself: what every object inherits does not count', () => {
    expect(() => parseAnswer<Record<string, unknown>>(answer('{}'), ['constructor'])).toThrow(ApiError);
    expect(parseAnswer<Record<string, unknown>>(answer('{"a":null}'), ['a'])).toEqual({ a: null });
    expect(parseAnswer<{ result: string[] }>(answer('["a"]'), ['result'])).toEqual({ result: ['a'] });
  });
});

describe.each(INHERITED)('the name %s', (name) => {
  test('means a member of its own only', () => {
    expect(ownMember<unknown>({}, name)).toBeUndefined();
    const own = JSON.parse(`{"${name}":1}`) as Record<string, unknown>;
    expect(ownMember<unknown>(own, name)).toBe(1);
  });

  test('as a field of a line is its value, or none', () => {
    const row = { source: 's', id: '1', timestamp: 1, project: 'p', event_message: 'm' };
    for (const field of [name, `metadata.${name}`, `a.${name}`, `${name}.${name}`]) {
      const none = valueAt(toLine({ ...row, metadata: { a: {} } }), field);
      expect(none).toBeUndefined();
      expect(formatValue(none)).toBe('');
    }
    const metadata = JSON.parse(`{"${name}":"there"}`) as unknown;
    expect(valueAt(toLine({ ...row, metadata }), name)).toBe('there');
  });
});

const SOURCE: SenderTarget['source'] = {
  ...{ id: 'c0ffee00-0000-4000-8000-000000000000', name: 'logs', table: 'logs', description: '' },
  ...{ managed: true, internal: false, protected: false, retention_days: 90, columns: [] },
};
const ORIGIN = 'https://logs.example.com';
const write = (project: string, key?: string) =>
  SENDERS.map((sender) => {
    const text = writeSender(sender, { origin: ORIGIN, source: SOURCE, project, key });
    return { ...sender, text };
  });

describe.each(write('p 1').map((one) => [one.label, one] as const))('the configuration of %s', (_, one) => {
  test('has the address of this service, and the variable of the key until one is made', () => {
    expect(one.text).toContain('logs.example.com');
    expect(one.text).toContain('TAILRACE_KEY');
    expect(`${one.text}${one.note}`).not.toMatch(/undefined|null|NaN|\[object/);
    expect(one.note).toMatch(/\.$/);
  });

  test('names the project', () => {
    const said = `${one.text} ${one.note}`;
    expect(said).toMatch(/p( |%20)1/);
  });
});

test.each(['filebeat', 'logstash'])('%s gets the port, since its default is that of Elasticsearch', (id) => {
  expect(write('p1').find((one) => one.id === id)?.text).toContain('["https://logs.example.com:443"]');
});

test('the event of curl has a level that is one', () => {
  const path = ['metadata', 'level'];
  const level = { name: 'level', type: 'keyword', path, other_paths: [], description: '' };
  const target = { origin: ORIGIN, source: { ...SOURCE, columns: [level] }, project: 'p1', key: undefined };
  const [curl] = SENDERS;
  expect(curl && writeSender(curl, target)).toContain('"level": "info"');
});

test('a key that was made stands where the variable stood', () => {
  for (const { id, text } of write('p1', 'tr_secret')) {
    expect(text, id).not.toContain('TAILRACE_KEY');
    expect(text, id).toContain('tr_secret');
  }
});

test('a project stands in its quotes, whatever it is called', () => {
  const project = `it's "aurora" at 4000`;
  const texts = new Map(write(project).map(({ id, text }) => [id, text]));
  expect(texts.get('pino')).toContain(`project: ${JSON.stringify(project)} }`);
  expect(texts.get('vector')).toContain(`x-project: ${JSON.stringify(project)}`);
  expect(texts.get('load')).toContain(`PROJECT='it'\\''s "aurora" at 4000' npx`);
  expect(texts.get('fluent-bit')).toMatch(/Port +443\n +Tls +on\n/);
});
