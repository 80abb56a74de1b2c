import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, expect, test } from 'vitest';
import { RECEIVER_KINDS } from '../../../src/alerts/receivers/kinds.ts';
import { SendError } from '../../../src/alerts/receivers/receiver.ts';
import { alertMessage } from '../../support/alert-message.ts';

const sentAtMs = Date.UTC(2026, 10, 20, 12, 0, 5);
const signal = new AbortController().signal;
const TLS = {
  key: readFileSync('trial/tls/one.key.pem'),
  cert: readFileSync('trial/tls/one.cert.pem'),
};

interface Mail {
  readonly from: string | undefined;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly isSecure: boolean;
  readonly content: string;
}

const servers: SMTPServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function startMail(options: SMTPServerOptions = {}) {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    ...TLS,
    onAuth: ({ username, password }, _, done) =>
      password === 'p@ss' ? done(null, { user: username }) : done(new Error('wrong')),
    onData: async (stream, { envelope, user, secure }, done) => {
      const content = await text(stream);
      const from = envelope.mailFrom === false ? undefined : envelope.mailFrom.address;
      mails.push({
        from,
        to: envelope.rcptTo.map(({ address }) => address),
        user,
        isSecure: secure,
        content,
      });
      done();
    },
    ...options,
  });
  server.on('error', () => {}); // of connections that a test ends
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  servers.push(server);
  return { mails, port: (server.server.address() as AddressInfo).port };
}

function mailer(url: string, isPrivate = true) {
  const fields = { url, from: 'tailrace@example.com', to: ['ops@example.com', 'duty@example.com'] };
  const opened = RECEIVER_KINDS['email']?.open(fields, { isPrivate, lookup: undefined });
  if (opened === undefined) throw new Error('no such kind');
  return opened;
}

test('sends a mail to every address, over TLS and as the user of the URL', async () => {
  const { mails, port } = await startMail();
  await mailer(`smtp://ops:p%40ss@127.0.0.1:${port}`).send(
    { id: 'msg_1', message: alertMessage(), sentAtMs },
    signal,
  );
  expect(mails).toMatchObject([
    {
      from: 'tailrace@example.com',
      to: ['ops@example.com', 'duty@example.com'],
      user: 'ops',
      isSecure: true,
    },
  ]);
  const { content = '' } = mails[0] ?? {};
  expect(content).toContain('Subject: [firing] checkout.errors: /orders failed 12 times\r\n');
  expect(content).toContain('Message-ID: <msg_1@tailrace>\r\n');
  expect(content).toContain(`\r\n${alertMessage().link}\r\n`);
  expect(content).toContain('\r\npath=/orders (failures: 12)\r\npath=/carts (failures: null)\r\n');
});

test('sends over TLS from the first byte', async () => {
  const { mails, port } = await startMail({ secure: true });
  const outgoing = { id: 'm', message: alertMessage(), sentAtMs };
  // The certificate of the test is its own.
  await expect(mailer(`smtps://127.0.0.1:${port}`).send(outgoing, signal)).rejects.toThrow(
    /self-signed|certificate/i,
  );
  expect(mails).toEqual([]);
});

test('sends no mail in the clear to a server that is not private', async () => {
  const { mails, port } = await startMail({ disabledCommands: ['STARTTLS'] });
  const outgoing = { id: 'm', message: alertMessage(), sentAtMs };
  const lookup = RECEIVER_KINDS['email']?.open(
    { url: `smtp://mail.example.com:${port}`, from: 'a@b.c', to: ['a@b.c'] },
    { isPrivate: false, lookup: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]) },
  );
  await expect(lookup?.send(outgoing, signal)).rejects.toThrow(/STARTTLS/i);
  await expect(mailer(`smtp://127.0.0.1:${port}`, false).send(outgoing, signal)).rejects.toThrow(
    '127.0.0.1 is not a public address',
  );
  expect(mails).toEqual([]);
});

test('no text of a row adds a header or an address', async () => {
  const { mails, port } = await startMail();
  const part = fc.constantFrom(
    '\r\n',
    '\n',
    '\r',
    'Bcc: x@evil.example',
    ':',
    ' ',
    '\0',
    '\u2028',
    'é',
    '\r\n.\r\n',
    '=?utf-8?q?a?=',
    '<',
    '"',
  );
  const line = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(line, line, async (given, id) => {
      const instances = [{ labels: { path: given }, values: {} }];
      await mailer(`smtp://127.0.0.1:${port}`).send(
        { id, message: alertMessage({ text: given, instances }), sentAtMs },
        signal,
      );
      const mail = mails.at(-1);
      expect(mail?.to).toEqual(['ops@example.com', 'duty@example.com']);
      const [head = ''] = mail?.content.split('\r\n\r\n', 1) ?? [];
      const names = head
        .replace(/\r\n[ \t]+/g, ' ')
        .split('\r\n')
        .map((header) => header.split(':', 1)[0]);
      expect(names.toSorted()).toEqual([
        'Auto-Submitted',
        'Content-Transfer-Encoding',
        'Content-Type',
        'Date',
        'From',
        'MIME-Version',
        'Message-ID',
        'Subject',
        'To',
      ]);
    }),
    { numRuns: 30 },
  );
});

test('says why a server did not accept a mail, and whether that was this mail', async () => {
  const outgoing = { id: 'm', message: alertMessage(), sentAtMs };
  const refusing = (responseCode: number) =>
    startMail({
      onRcptTo: (_, __, done) => done(Object.assign(new Error('no such mailbox'), { responseCode })),
    });
  const failWith = async (responseCode: number) => {
    const { port } = await refusing(responseCode);
    return mailer(`smtp://127.0.0.1:${port}`)
      .send(outgoing, signal)
      .catch((error: unknown) => error);
  };
  expect(await failWith(550)).toMatchObject({
    isRejected: true,
    message: expect.stringContaining('no such mailbox'),
  });
  expect(await failWith(450)).toMatchObject({ isRejected: false });
  const { port } = await startMail();
  const denied = mailer(`smtp://ops:wrong-pass@127.0.0.1:${port}`);
  const error = await denied.send(outgoing, signal).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(SendError);
  expect(String(error)).not.toContain('wrong-pass');
});

test('a try that is stopped ends at once', async () => {
  const { port } = await startMail({ onConnect: () => {} }); // never greets
  const end = new AbortController();
  const sending = mailer(`smtp://127.0.0.1:${port}`).send(
    { id: 'm', message: alertMessage(), sentAtMs },
    end.signal,
  );
  end.abort(new Error('stopping'));
  await expect(sending).rejects.toThrow('stopping');
});
