import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { expect, onTestFinished, test } from 'vitest';
import { RECEIVER_KINDS } from '../../../src/alerts/receivers/kinds.ts';
import { alertMessage } from '../../support/alert.ts';
import { runs } from '../../support/property.ts';

const signal = new AbortController().signal;
const OUTGOING = { id: 'msg_1', message: alertMessage(), sentAtMs: Date.UTC(2026, 10, 20, 12, 0, 5) };
const TO = ['ops@example.com', 'duty@example.com'];
const TLS = { key: readFileSync('trial/tls/one.key.pem'), cert: readFileSync('trial/tls/one.cert.pem') };

async function startMail(options: SMTPServerOptions = {}) {
  const mails: { to: string[]; user: string | undefined; isSecure: boolean; content: string }[] = [];
  const server = new SMTPServer({
    ...{ authOptional: true, ...TLS },
    onAuth: ({ username, password }, _, done) =>
      password === 'p@ss' ? done(null, { user: username }) : done(new Error('wrong')),
    onData: async (stream, { envelope, user, secure }, done) => {
      const to = envelope.rcptTo.map(({ address }) => address);
      mails.push({ to, user, isSecure: secure, content: await text(stream) });
      done();
    },
    ...options,
  });
  server.on('error', () => {}); // of connections that a test ends
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  onTestFinished(() => void server.close());
  return { mails, port: (server.server.address() as AddressInfo).port };
}

function mailer(url: string, isPrivate = true) {
  const fields = { url, from: 'tailrace@example.com', to: TO };
  const opened = RECEIVER_KINDS['email']?.open(fields, {
    isPrivate,
    lookup: isPrivate ? undefined : (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  if (opened === undefined) throw new Error('no such kind');
  return opened;
}

test('sends a mail to every address, over TLS and as the user of the URL', async () => {
  const { mails, port } = await startMail();
  await mailer(`smtp://ops:p%40ss@127.0.0.1:${port}`).send(OUTGOING, signal);
  expect(mails).toMatchObject([{ to: TO, user: 'ops', isSecure: true }]);
  const { content = '' } = mails[0] ?? {};
  expect(content).toContain('Subject: [firing] checkout.errors: /orders failed 12 times\r\n');
  expect(content).toContain('Message-ID: <msg_1@tailrace>\r\n');
  expect(content).toContain(`\r\n${alertMessage().link}\r\n`);
  expect(content).toContain('\r\npath=/orders (failures: 12)\r\npath=/carts (failures: null)\r\n');
});

test('an address that the server rejects is named, and the mail to the others is not sent again', async () => {
  const { mails, port } = await startMail({
    onRcptTo: ({ address }, _, done) =>
      done(address === TO[1] ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null),
  });
  const sending = mailer(`smtp://127.0.0.1:${port}`).send(OUTGOING, signal);
  await expect(sending).rejects.toMatchObject({
    isFinal: true,
    message: expect.stringMatching(/^not sent to duty@example.com, only to the others: .*no such user/),
  });
  expect(mails).toMatchObject([{ to: [TO[0]] }]);
});

test('sends no mail in the clear, or by a certificate of nobody known, to a server that is not private', async () => {
  const { mails, port } = await startMail({ disabledCommands: ['STARTTLS'] });
  const clear = mailer(`smtp://mail.example.com:${port}`, false);
  await expect(clear.send(OUTGOING, signal)).rejects.toThrow(/STARTTLS/i);
  const { port: securePort } = await startMail({ secure: true });
  const secure = mailer(`smtps://127.0.0.1:${securePort}`);
  await expect(secure.send(OUTGOING, signal)).rejects.toThrow(/self-signed|certificate/i);
  expect(mails).toEqual([]);
});

test('no text of a row adds a header or an address', async () => {
  const { mails, port } = await startMail();
  const known = ['Auto-Submitted', 'Content-Transfer-Encoding', 'Content-Type', 'Date', 'From'];
  const signs = ['\r\n', '\n', '\r', 'Bcc: x@evil.example', ':', ' ', '\0', '\u2028', 'é', '\r\n.\r\n'];
  const part = fc.constantFrom(...signs, '=?utf-8?q?a?=', '<', '"');
  const line = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(line, line, async (given, id) => {
      const message = alertMessage({ text: given, instances: [{ labels: { path: given }, values: {} }] });
      await mailer(`smtp://127.0.0.1:${port}`).send({ ...OUTGOING, id, message }, signal);
      const mail = mails.at(-1);
      expect(mail?.to).toEqual(TO);
      const [head = ''] = mail?.content.split('\r\n\r\n', 1) ?? [];
      const headers = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
      const names = headers.map((header) => header.split(':', 1)[0]);
      expect(names.toSorted()).toEqual([...known, 'MIME-Version', 'Message-ID', 'Subject', 'To']);
    }),
    runs(30),
  );
});
