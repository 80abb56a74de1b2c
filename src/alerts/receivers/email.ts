import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import { messageOf } from '../../errors.ts';
import { untilAborted } from '../../lib/abort.ts';
import { addressOf } from '../../lib/network.ts';
import { oneLine } from '../text.ts';
import {
  attempt,
  describeInstances,
  type Outgoing,
  type Send,
  SendError,
  type Target,
  titleOf,
} from './receiver.ts';

const SUBJECT_CHARS_MAX = 200;
const INSTANCES_MAX = 100;
const PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };

interface Addresses {
  readonly from: string;
  readonly to: readonly string[];
}

/** Sends plain text. `smtps://` begins with TLS; `smtp://` changes to it (STARTTLS), which only private servers may lack. */
export function createEmail(target: Target, addresses: Addresses): Send {
  const { url, lookup } = target;
  return (outgoing, signal) =>
    attempt(target, signal, async (ends) => {
      // Connects before the library does, so that the address that was checked is the one that is connected to.
      const socket = connect({
        host: addressOf(url) ?? url.hostname,
        port: Number(url.port) || (PORTS[url.protocol] ?? 0),
        lookup,
      });
      socket.on('error', () => {}); // between two readers of the socket
      try {
        await once(socket, 'connect', { signal: ends });
        await untilAborted(deliver(target, socket, { ...addresses, ...toMail(outgoing) }), ends);
      } finally {
        socket.destroy();
      }
    });
}

async function deliver(
  { url, isPrivate }: Target,
  socket: Socket,
  mail: Addresses & ReturnType<typeof toMail>,
): Promise<void> {
  const isTls = url.protocol === 'smtps:';
  const isLax = isPrivate && !isTls;
  const transport = createTransport({
    connection: socket,
    host: addressOf(url) ?? url.hostname,
    secure: isTls,
    requireTLS: !isLax,
    // Mail servers beside the service offer STARTTLS with self-signed certificates; without TLS they would get the same
    // in the clear.
    tls: { rejectUnauthorized: !isLax },
    ...(url.username !== '' && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { rejected, rejectedErrors = [] } = await transport
    .sendMail({ ...mail, to: [...mail.to] })
    .catch((error: Error & { readonly responseCode?: number }) => {
      throw new SendError(messageOf(error), { cause: error, isRejected: (error.responseCode ?? 0) >= 500 });
    });
  if (rejected.length === 0) return;
  const reasons = rejectedErrors.map(messageOf).join('; ');
  throw new SendError(`not sent to ${rejected.join(', ')}, only to the others: ${reasons}`, {
    ...{ isRejected: true, isFinal: true },
  });
}

/** The library encodes headers; values of rows reach only the subject, in one line, and the body. */
function toMail({ id, message, sentAtMs }: Outgoing) {
  const { text, severity, link } = message;
  const lines = describeInstances(message, INSTANCES_MAX);
  return {
    subject: oneLine(`${titleOf(message)}: ${text}`, SUBJECT_CHARS_MAX),
    text: [`${text}\n`, `severity: ${severity}`, ...lines, link ?? ''].join('\n').trimEnd(),
    date: new Date(sentAtMs),
    // Mail programs show one of several mails with the same id.
    messageId: `<${id.replace(/[^\w.-]/g, '-')}@tailrace>`,
    headers: { 'auto-submitted': 'auto-generated' },
  };
}
