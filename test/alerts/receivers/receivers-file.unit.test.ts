import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readReceivers } from '../../../src/alerts/receivers/receivers-file.ts';
import { alertMessage } from '../../support/alert.ts';
import { faultsIn } from '../../support/faults.ts';
import { ownFolder } from '../../support/service.ts';

const folder = await ownFolder();
const path = join(folder.path, 'receivers.yaml');

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

async function read(
  text: string,
  { mode = 0o600, ...options }: Partial<Parameters<typeof readReceivers>[1]> & { mode?: number } = {},
) {
  await writeFile(path, text);
  await chmod(path, mode);
  return readReceivers(path, { environment, ...options });
}

/** The faults, without the folder. */
const faultsOf = async (text: string, mode = 0o600) =>
  (await faultsIn(() => read(text, { mode }))).map((fault) => fault.replace(`${path}:`, ''));

test('reads every kind of receiver, with values of the environment', async () => {
  const receivers = await read(GOOD, { mode: 0o440 }); // as Kubernetes mounts secrets
  const kinds = [...receivers.values()].map(({ name, kind }) => `${name} ${kind}`).join();
  expect(kinds).toBe('ops webhook,two webhook,chat slack,duty pagerduty,prometheus alertmanager,mail email');
  expect(receivers.get('chat')?.secrets).toEqual(['/services/T0/B0/xyz']);
  expect(receivers.get('ops')?.secrets).toContain(SECRET);
  expect(await read('')).toEqual(new Map());
});

test.each([0o644, 0o602])('rejects a file that every user can read or change: %o', async (mode) => {
  expect(await faultsOf(GOOD, mode)).toEqual([
    expect.stringMatching(/^1: can be read or changed by every user/),
  ]);
});

const slack = (fields: string) => `first: { kind: slack, url: https://a.b }\na: { kind: slack, ${fields} }`;
const webhook = (secret: string) => `\na: { kind: webhook, url: https://a.b, secret: ${secret} }`;
const email = (fields: string) => `\na: { kind: email, url: "smtp://a.b", ${fields} }`;
test.each([
  ['a:\n  kind: sms', 'unknown kind of receiver; known are webhook, slack, pagerduty, alertmanager, email'],
  [slack('url: https://a.b, uri: x'), 'unknown field; known here: kind, private, url'],
  [slack('url: http://a.b'), '"url" must begin with https://; without TLS only with private: true'],
  ...['[::1]', '169.254.169.254', '2130706433'].map((host): [string, string] => [
    slack(`url: "https://${host}"`),
    '"url" is a private or loopback address, which needs private: true',
  ]),
  [slack(`url: "\${NOT_SET}"`), 'NOT_SET is not set; set this variable of the environment'],
  [
    email('from: a@b.c, to: ["a@b.c\\r\\nBcc: x@y.z"]'),
    '"to[0]" must be an address, such as ops@example.com',
  ],
  ...[SECRET.slice(6), 'whsec_c2hvcnQ=', `${SECRET}*`].map((secret): [string, string] => [
    webhook(secret),
    '"secret" must be whsec_ and 24 to 64 bytes as base64; openssl rand -base64 32 makes one',
  ]),
])('names the line of a fault and what would be right: %j', async (text, fault) => {
  const [first, ...others] = await faultsOf(text);
  expect(others).toEqual([]);
  expect(first).toContain(`2: ${fault}`);
});

test('no message repeats a value of the file, whatever is wrong with it', async () => {
  const put = fc.constantFrom('', '"', '{', ': ', '\n', '- ', '!', '&', '*', '|', '%');
  await fc.assert(
    fc.asyncProperty(fc.nat(GOOD.length), fc.nat(3), put, async (at, cut, sign) => {
      const text = GOOD.slice(0, at) + sign + GOOD.slice(at + cut);
      for (const fault of await faultsIn(() => read(text))) {
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
  const host = `rebound.example.com:${(server.address() as AddressInfo).port}`; // of TCP
  const text = GOOD.replace(/\$\{SLACK_URL\}/, 'https://a.b/x')
    .replace(`routing_key: ${ROUTING_KEY}`, `routing_key: ${ROUTING_KEY}, url: "https://a.b"`)
    .replace('http:', 'https:')
    .replace(', private: true', '')
    .replaceAll(/(https|smtps):\/\/((?:\S+@)?)[a-z.]+(?::\d+)?/g, `$1://$2${host}`);
  const addresses = ['127.0.0.1', '::ffff:127.0.0.1'].map((address, i) => ({ address, family: 4 + 2 * i }));
  const receivers = await read(text, { resolve: (_, __, callback) => callback(null, addresses) });
  expect(receivers.size).toBe(6);
  const outgoing = { id: 'm', message: alertMessage(), sentAtMs: Date.now() };
  for (const { name, send } of receivers.values())
    await expect(send(outgoing, new AbortController().signal), name).rejects.toThrow('has no public address');
  server.close();
  expect(connections).toBe(0);
});
