import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SENDERS, type SenderTarget } from '../../console/src/page/send/senders.ts';

const SOURCE: SenderTarget['source'] = {
  ...{ id: 'c0ffee00-0000-4000-8000-000000000000', name: 'logs', table: 'logs', description: '' },
  ...{ managed: true, internal: false, protected: false, retention_days: 90, columns: [] },
};
const ORIGIN = 'https://logs.example.com';
const write = (project: string, key?: string) =>
  SENDERS.map((sender) => ({ ...sender, ...sender.write({ origin: ORIGIN, source: SOURCE, project, key }) }));
const BY_SYSLOG = ['rsyslog', 'syslog-ng'];

describe.each(write('p 1').map((one) => [one.label, one] as const))('the configuration of %s', (_, one) => {
  test('has the address of this service, and the variable of the key until one is made', () => {
    expect(one.text).toContain('logs.example.com');
    if (!BY_SYSLOG.includes(one.id)) expect(one.text).toContain('TAILRACE_KEY');
    expect(`${one.text}${one.note}`).not.toMatch(/undefined|null|NaN|\[object/);
    expect(one.note).toMatch(/\.$/);
  });

  test('names the project, or says that the key has to', () => {
    const said = `${one.text} ${one.note}`;
    expect(said).toMatch(/p( |%20)1|pin it in the key/);
  });

  test('is YAML where it says so', () => {
    if (one.language === 'yaml') expect(parse(one.text)).toBeTypeOf('object');
  });
});

test('a key that was made stands where the variable stood', () => {
  for (const { id, text } of write('p1', 'tr_secret')) {
    expect(text, id).not.toContain('TAILRACE_KEY');
    if (!BY_SYSLOG.includes(id)) expect(text, id).toContain('tr_secret');
  }
});

test('ids are different', () => {
  expect(new Set(SENDERS.map(({ id }) => id)).size).toBe(SENDERS.length);
});
