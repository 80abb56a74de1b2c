import { lookup } from 'node:dns';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { readReceivers } from '../../../src/alerts/receivers/receivers-file.ts';
import { InputError } from '../../../src/errors.ts';
import type { Resolve } from '../../../src/lib/public-address.ts';
import { alertMessage } from '../../support/alert-message.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;
const ROUTING_KEY = 'a1'.repeat(16);
const GOOD = `ops: { kind: webhook, url: https://hooks.example.com/a, secret: ${SECRET} }
two: { kind: webhook, url: https://hooks.example.com/a, secret: [${SECRET}, ${SECRET}] }
chat:
  kind: slack
  url: \${SLACK_URL}
duty: { kind: pagerduty, routing_key: ${ROUTING_KEY} }
prometheus: { kind: alertmanager, url: http://alertmanager:9093/, private: true }
mail: { kind: email, url: "smtps://user:\${MAIL_PASSWORD}@smtp.example.com", from: tailrace@example.com, to: [duty@corp.test] }
`;
const environment = { SLACK_URL: 'https://hooks.slack.com/services/T0/B0/xyz', MAIL_PASSWORD: 'p%40ss' };

async function read(text: string, mode = 0o600, resolve: Resolve = lookup) {
  const path = join(folder.path, 'receivers.yaml');
  await writeFile(path, text);
  await chmod(path, mode);
  return readReceivers(path, { environment, resolve });
}

/** The faults, without the folder. */
async function faultsOf(text: string, mode?: number): Promise<string[]> {
  const error = await read(text, mode).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  return (error as InputError).faults.map((fault) => fault.replace(`${folder.path}/receivers.yaml:`, ''));
}

test('reads every kind of receiver, with values of the environment', async () => {
  const receivers = await read(GOOD);
  expect([...receivers.values()].map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    'ops webhook',
    'two webhook',
    'chat slack',
    'duty pagerduty',
    'prometheus alertmanager',
    'mail email',
  ]);
  expect(receivers.get('chat')?.secrets).toEqual(['/services/T0/B0/xyz']);
  expect(receivers.get('ops')?.secrets).toContain(SECRET);
  expect(await read('')).toEqual(new Map());
});

test.each([0o644, 0o604, 0o602, 0o666])(
  'rejects a file that every user can read or change: %o',
  async (mode) => {
    expect(await faultsOf(GOOD, mode)).toEqual([
      `1: can be read or changed by every user (mode ${mode.toString(8)}); run chmod 600 on it`,
    ]);
  },
);

test('reads a file of the owner and a group, as Kubernetes mounts secrets', async () => {
  expect((await read(GOOD, 0o440)).size).toBe(6);
});

test('says that the file is missing', async () => {
  await expect(readReceivers('/nowhere/receivers.yaml', { environment })).rejects.toThrow(
    '/nowhere/receivers.yaml:1: is missing; TAILRACE_RECEIVERS_FILE names it',
  );
});

const webhook = (fields: string) =>
  `first: { kind: slack, url: https://a.example.com }\nops: { kind: webhook, ${fields} }`;
test.each([
  ['a: 1', '1: must be a map of fields, such as { kind: slack, url: … }'],
  ['- a', '1: must be a map of receivers, such as ops: { kind: slack, url: https://… }'],
  ['a:\n  url: x', '1: "kind" is missing; one of webhook, slack, pagerduty, alertmanager, email'],
  [
    'a:\n  url: x\n  kind: sms',
    '3: unknown kind of receiver; known are webhook, slack, pagerduty, alertmanager, email',
  ],
  [
    'a:\n  kind: [slack]',
    '2: unknown kind of receiver; known are webhook, slack, pagerduty, alertmanager, email',
  ],
  [
    'a:\n  kind: constructor',
    '2: unknown kind of receiver; known are webhook, slack, pagerduty, alertmanager, email',
  ],
  ['a: { kind: slack }', '1: "url" is missing'],
  ['a:\n  kind: slack\n  url: https://a.b\n  uri: x', '4: unknown field; known here: kind, private, url'],
  ['a b: { kind: slack, url: https://a.b }', /^1: this must be the name of a receiver: letters, digits/],
  ['a: { kind: slack, url: 1 }', '1: "url" must be a URL'],
  ['a: { kind: slack, url: hello }', '1: "url" must be a URL, such as https://hooks.example.com/alerts'],
  ['a: { kind: slack, url: ftp://a.b }', '1: "url" must be a URL, such as https://hooks.example.com/alerts'],
  [
    'a: { kind: slack, url: "https://a.b/#c" }',
    '1: "url" must be a URL, such as https://hooks.example.com/alerts',
  ],
  [
    'a: { kind: slack, url: http://a.b }',
    '1: "url" must begin with https://; without TLS only with private: true',
  ],
  [
    'a: { kind: slack, url: "https://[::1]" }',
    '1: "url" is a private or loopback address, which needs private: true',
  ],
  [
    'a: { kind: slack, url: https://169.254.169.254 }',
    '1: "url" is a private or loopback address, which needs private: true',
  ],
  [
    'a: { kind: slack, url: https://2130706433 }',
    '1: "url" is a private or loopback address, which needs private: true',
  ],
  ['a: { kind: slack, url: https://a.b, private: "yes" }', '1: "private" must be true or false'],
  [`a: { kind: slack, url: "\${NOT_SET}" }`, '1: NOT_SET is not set; set this variable of the environment'],
  [
    'a: { kind: pagerduty, routing_key: abc }',
    '1: "routing_key" must be the 32 letters and digits of an integration key of the Events API v2',
  ],
  [
    'a: { kind: email, url: "smtp://a.b", from: a@b.c, to: ["a@b.c\\r\\nBcc: x@y.z"] }',
    '1: "to[0]" must be an address, such as ops@example.com',
  ],
  [
    'a: { kind: email, url: "https://a.b", from: a@b.c, to: [a@b.c] }',
    '1: "url" must be a URL, such as smtps://user:password@smtp.example.com',
  ],
  [
    'a: { kind: email, url: "smtps://a:%zz@a.b", from: a@b.c, to: [a@b.c] }',
    '1: "url" must have a user and password whose % are written as %25',
  ],
  [webhook('url: https://a.b'), '2: "secret" is missing'],
  [webhook(`url: https://a.b, secret: ${SECRET.slice(6)}`), '2: "secret" must begin with whsec_'],
  [webhook('url: https://a.b, secret: whsec_not-base64!'), '2: "secret" must be base64 after whsec_'],
  [
    webhook('url: https://a.b, secret: whsec_aGVsbG8='),
    '2: "secret" must be 24 to 64 bytes as base64, not 5; openssl rand -base64 32 makes one',
  ],
  [webhook('url: https://a.b, secret: []'), /^2: "secret" must be whsec_ and base64, or a list of up to 5/],
  [webhook('url: https://a.b, secret: 5'), /^2: "secret" must be whsec_ and base64, or a list of up to 5/],
])('names the line of a fault and what would be right: %s', async (text, fault) => {
  const [first, ...others] = await faultsOf(text);
  expect(others).toEqual([]);
  expect(first).toMatch(fault);
});

test('rejects a file of too many receivers', async () => {
  const entry = (_: unknown, i: number) => `r${i}: { kind: slack, url: https://a.example.com }`;
  expect((await read(Array.from({ length: 100 }, entry).join('\n'))).size).toBe(100);
  expect(await faultsOf(Array.from({ length: 101 }, entry).join('\n'))).toEqual([
    '1: has 101 receivers; at most 100 are allowed',
  ]);
});

test('lists the faults of all receivers', async () => {
  expect(await faultsOf('a: { kind: slack }\nb: { kind: sms }')).toHaveLength(2);
});

test('no message repeats a value of the file, whatever is wrong with it', async () => {
  const change = fc.record({
    at: fc.nat(GOOD.length),
    cut: fc.nat(3),
    put: fc.constantFrom('', '"', '{', ': ', '\n', '- ', '!', '&', '*', '|', '%'),
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ at, cut, put }) => {
      const text = GOOD.slice(0, at) + put + GOOD.slice(at + cut);
      const faults = await read(text).then(
        () => [],
        (error: unknown) => {
          expect(error).toBeInstanceOf(InputError);
          return (error as InputError).faults;
        },
      );
      for (const fault of faults) {
        expect(fault).toMatch(/receivers\.yaml:\d+: /);
        expect(fault).not.toMatch(/a2tr|a1a1a1|duty@corp|hooks\.slack|p%40|xyz/);
      }
    }),
  );
});

test('no kind connects to a name that has come to mean a private address', async () => {
  let connections = 0;
  const server = createServer(() => connections++).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // of TCP
  const text = GOOD.replaceAll(
    /(https?|smtps):\/\/((?:\S+@)?)[a-z.]+(?::\d+)?/g,
    `$1://$2rebound.example.com:${port}`,
  )
    .replace('http:', 'https:')
    .replace(', private: true', '')
    .replace(/\$\{SLACK_URL\}/, `https://rebound.example.com:${port}/x`)
    .replace(
      `routing_key: ${ROUTING_KEY}`,
      `routing_key: ${ROUTING_KEY}, url: "https://rebound.example.com:${port}"`,
    );
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::ffff:127.0.0.1', family: 6 },
  ];
  const receivers = await read(text, 0o600, (_, __, callback) => callback(null, addresses));
  expect(receivers.size).toBe(6);
  const outgoing = { id: 'm', message: alertMessage(), sentAtMs: Date.now() };
  for (const { name, send } of receivers.values())
    await expect(send(outgoing, new AbortController().signal), name).rejects.toThrow(
      'rebound.example.com has no public address',
    );
  server.close();
  expect(connections).toBe(0);
});

test('a receiver whose entry has not changed is the same one in the next reading', async () => {
  const known = await read(GOOD);
  const path = join(folder.path, 'receivers.yaml');
  await writeFile(path, GOOD.replace('hooks.example.com/a', 'hooks.example.com/b'));
  const again = await readReceivers(path, {
    environment: { ...environment, SLACK_URL: 'https://a.b/c' },
    known,
  });
  const same = [...again].filter(([name, receiver]) => known.get(name) === receiver);
  expect(same.map(([name]) => name)).toEqual(['two', 'duty', 'prometheus', 'mail']);
});
