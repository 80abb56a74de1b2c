import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { accepts, createAccepts } from '../../src/definitions/accepts.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { parseEvent } from '../../src/ingest/event.ts';

const dir = await mkdtemp(join(tmpdir(), 'tailrace-accepts-'));
afterAll(() => rm(dir, { recursive: true, force: true }));

/** A source with these lines in its file, and the faults of the file. */
async function read(lines: string) {
  const head =
    'id: 5a0c3a1e-4a56-4f3c-8f52-0d1ec2b8d7a1\nname: a\ntable: a\ndescription: d\nproject: project\n';
  await writeFile(join(dir, 'a.yaml'), `${head}${lines}\n`);
  const { definitions, faults } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: dir });
  return { source: definitions.sources[0], faults: faults.map(({ line, message }) => `${line}: ${message}`) };
}

describe('accepts', () => {
  test.each([
    [
      'another protocol',
      '[{ protocol: gelf, label: a, equals: b }]',
      /must be one of loki, elasticsearch, splunk/,
    ],
    ['no label', '[{ protocol: loki, equals: b }]', /"label" is missing/],
    ['an unknown field', '[{ protocol: loki, label: a, equals: b, starts: c }]', /unknown field "starts"/],
    ['a number', '[{ protocol: loki, label: a, equals: 7 }]', /"equals" must be a text that is not empty/],
    ['no list', '{ protocol: loki }', /"accepts" must be a list/],
  ])('with %s is a fault', async (_, value, message) => {
    const { faults } = await read(`accepts: ${value}`);
    expect(faults).toContainEqual(expect.stringMatching(message));
    expect(faults.every((fault) => fault.startsWith('6: ') || fault.startsWith('1: '))).toBe(true);
  });

  test('compares a label with texts, or with the beginning of one', () => {
    const [rule] = createAccepts([{ protocol: 'loki', label: 'app', equals: ['shop', 'web-*'] }]);
    const fits = (labels: object) => rule !== undefined && accepts(rule, labels as Record<string, unknown>);
    expect([{ app: 'shop' }, { app: 'web-' }, { app: 'web-1' }].map(fits)).toEqual([true, true, true]);
    const others = [{}, { app: 'shops' }, { app: 'web' }, { app: 1 }, { other: 'shop' }, { APP: 'shop' }];
    expect(others.map(fits)).toEqual(others.map(() => false));
  });
});

describe('message and event_id', () => {
  const rules = { now: Date.UTC(2026, 10, 20) * 1_000, eventBytesMax: 10_000, project: '' };

  test('name the places of an event that has no text and no id', async () => {
    const { source, faults } = await read('message: [metadata.msg, log]\nevent_id: [metadata.uid, uid]');
    expect(faults).toEqual([]);
    const parse = (event: object) => {
      if (source === undefined) throw new Error('the source is not whole');
      const { id, message } = parseEvent({ text: JSON.stringify(event) }, source, rules);
      return [id, message];
    };
    expect(parse({ metadata: { msg: 'm', uid: 7 }, log: 'l', uid: 'u' })).toEqual(['7', 'm']);
    expect(parse({ metadata: { msg: null }, log: { a: 1 }, uid: 'u' })).toEqual(['u', '{"a":1}']);
    expect(parse({ id: 'i', message: 'own', metadata: { msg: 'm', uid: 7 } })).toEqual(['i', 'own']);
  });
});
