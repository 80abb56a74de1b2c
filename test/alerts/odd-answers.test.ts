import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AlertMessage } from '../../src/alerts/outbox.ts';
import type { AlertEntryView, AlertView } from '../../src/management/alert-view.ts';
import { writeAlerts } from '../support/alert-files.ts';
import { type ReceiverServer, startReceiver } from '../support/receiver-server.ts';
import { PRIVATE_KEY, startTestService, temporaryFolder } from '../support/service.ts';

const LABEL_BYTES = 65_536;
const LOOP = '{% for a in (1..1000) %}{% for b in (1..1000) %}{{ name }}{% endfor %}{% endfor %}';
/** SQL of an endpoint, and the alert on it. */
const CASES = {
  many: { sql: `SELECT toString(number) AS name, 1.5 AS value FROM numbers(20000)`, when: 'rows' },
  crowded: { sql: `SELECT toString(number) AS name, 1.5 AS value FROM numbers(10000)`, when: 'rows' },
  nan: {
    sql: `SELECT toString(number) AS name, if(number = 0, nan, 1.5) AS value FROM numbers(2)`,
    when: { column: 'value', above: 1 },
  },
  infinite: {
    sql: `SELECT toString(number) AS name, if(number = 0, inf, 1.5) AS value FROM numbers(2)`,
    when: { column: 'value', above: 1 },
  },
  null: {
    sql: `SELECT if(number = 0, NULL, 'b') AS name, 1.5 AS value FROM numbers(2)`,
    when: 'rows',
  },
  long: { sql: `SELECT repeat('é', ${LABEL_BYTES / 2}) AS name, 1.5 AS value`, when: 'rows' },
  more: { sql: `SELECT toString(number) AS name, 1.5 AS value FROM numbers(6)`, max_rows: 5, when: 'rows' },
  control: { sql: `SELECT 'a\\r\\nb\\0\\x1b[2J\\tc' AS name, 1.5 AS value`, when: 'rows' },
  loop: { sql: `SELECT 'a' AS name, 1.5 AS value`, when: 'rows', text: LOOP },
} as const;

const closing: (() => unknown)[] = [];
let running: Awaited<ReturnType<typeof startTestService>>;
let receiver: ReceiverServer;

beforeAll(async () => {
  const folder = await temporaryFolder();
  closing.push(folder.remove);
  receiver = await startReceiver();
  closing.push(receiver.close);
  const endpoints = join(folder.path, 'endpoints');
  for (const [i, [name, { sql, ...fields }]] of Object.entries(CASES).entries()) {
    const endpoint = {
      ...{ id: `4c1d2e3f-0000-4000-8000-00000000000${i}`, name, description: 'Odd.' },
      max_rows: 'max_rows' in fields ? fields.max_rows : 20_000,
      ...{ caching: 60, query_sandboxing: false },
      columns: {
        name: { type: 'string', description: 'Name.' },
        value: { type: 'number', description: 'Value.' },
      },
    };
    await mkdir(join(endpoints, name), { recursive: true });
    await writeFile(join(endpoints, name, 'endpoint.yaml'), JSON.stringify(endpoint));
    await writeFile(join(endpoints, name, 'query.sql'), sql);
  }
  const alerts = Object.entries(CASES).map(([name, { sql: _, when, ...fields }]) => ({
    ...{ endpoint: name, name, per: ['name'], when },
    text: 'text' in fields ? fields.text : '{{ name }}',
  }));
  const env = await writeAlerts(folder.path, { ops: receiver.url }, ...alerts);
  running = await startTestService({
    env: { ...env, TAILRACE_ENDPOINTS_DIR: endpoints, TAILRACE_QUERY_QUEUE_TIMEOUT_MS: '60000' },
  });
  closing.push(running.close);
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** The history of an alert, oldest first. */
async function readHistory(name: string): Promise<string[]> {
  const response = await fetch(`${running.url}/api/alerts/${name}/history`, {
    headers: { 'x-api-key': PRIVATE_KEY },
  });
  const { result } = (await response.json()) as { readonly result: readonly AlertEntryView[] };
  return result
    .map(({ change, reason, labels }) => `${change} ${reason ?? JSON.stringify(labels)}`)
    .toReversed();
}

async function readTick(name: string): Promise<string | null | undefined> {
  const response = await fetch(`${running.url}/api/alerts`, { headers: { 'x-api-key': PRIVATE_KEY } });
  const { result } = (await response.json()) as { readonly result: readonly AlertView[] };
  return result.find((alert) => alert.name === name)?.last_evaluation;
}

const CUT = `firing {"name":"${'é'.repeat(1_000)}"}`;
test.each([
  ['many', ['failed the answer has more than 10000 rows, so it was not read; add a LIMIT or max_rows']],
  [
    'crowded',
    [
      'failed the answer has 10000 instances; an alert has at most 100: group by other columns, or raise the threshold',
    ],
  ],
  [
    'nan',
    [
      'note "value" is null or not a number in some rows, for which the condition does not hold',
      'firing {"name":"1"}',
    ],
  ],
  [
    'infinite',
    [
      'note "value" is null or not a number in some rows, for which the condition does not hold',
      'firing {"name":"1"}',
    ],
  ],
  [
    'null',
    [
      'note "name" is null in some rows, whose instances have it as an empty label',
      'firing {"name":""}',
      'firing {"name":"b"}',
    ],
  ],
  ['long', ['note values of "name" are longer than 1000 characters and were cut', CUT]],
  [
    'more',
    [
      'note the answer has more than max_rows, 5; the alert does not see the other rows',
      ...[0, 1, 2, 3, 4].map((name) => `firing {"name":"${name}"}`),
    ],
  ],
  ['control', ['firing {"name":"a\\r\\nb\\u0000\\u001b[2J\\tc"}']],
  [
    'loop',
    [
      'firing {"name":"a"}',
      'note its text cannot be written: does too much work; loop over fewer items, or shorten the texts',
    ],
  ],
] as const)('an odd answer (“%s”) is bounded, and the history says so once', async (name, expected) => {
  await expect.poll(() => readHistory(name)).toEqual(expected);
  const first = await readTick(name);
  running.clock.now += 2_000;
  await expect.poll(() => readTick(name)).not.toBe(first);
  expect(await readHistory(name)).toEqual(expected);
});

test('messages about odd answers are sent, within their bounds', async () => {
  await expect.poll(() => receiver.received.length).toBe(7);
  const texts = receiver.received.map(({ body }) => (JSON.parse(body) as AlertMessage).text);
  expect(texts).toContain('a \nb [2J\tc');
  for (const { body } of receiver.received) expect(body.length).toBeLessThan(8_000);
});
