import { expect, test } from 'vitest';
import type { AlertMessage } from '../../src/alerts/outbox.ts';
import { describeReplay } from '../../src/cli/alerts/describe.ts';
import { toPrintable } from '../../src/cli/format.ts';
import { alertMessage } from '../support/alert-message.ts';

const at = Date.UTC(2026, 10, 20, 12) * 1000;
const about = (...paths: string[]): AlertMessage => ({
  ...alertMessage(),
  ...{ at, text: 'it fails\nand again' },
  instances: paths.map((path) => ({ labels: { path }, values: {} })),
});
const describe = (messages: AlertMessage[], to: string[]) =>
  describeReplay({
    ...{ alert: 'a', ticks: 60, failures: 0, messages, firing: [], to, sentTo: [], messageIds: {} },
  });

test('a range is described by when an alert would have fired, for which instances, and whom that would have called', () => {
  const fired = '2026-11-20 12:00  firing';
  expect(describe([about('/a'), about('/a', '/b', '/c', '/d', '/e')], ['ops'])).toEqual([
    `${fired}  path=/a  it fails; and again`,
    `${fired}  path=/a, path=/b, path=/c, and 2 more  it fails; and again`,
    '60 evaluations, 2 messages to ops',
  ]);
  expect(describe([about()], ['ops', 'duty'])).toEqual([
    `${fired}  it fails; and again`,
    '60 evaluations, 1 message to each of ops, duty',
  ]);
});

test('a terminal obeys no text of an event', () => {
  const [line = ''] = describe(
    [{ ...about('/a\n60 evaluations\x1b[2J'), text: '\x1b]0;x\x07\u202e' }],
    ['ops'],
  );
  expect(toPrintable(line)).toBe(
    '2026-11-20 12:00  firing  path=/a 60 evaluations [2J  \ufffd]0;x\ufffd\ufffd',
  );
});
