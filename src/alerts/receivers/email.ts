import { connect, type Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import { messageOf } from '../../errors.ts';
import { createDeadline, untilAborted } from '../../lib/abort.ts';
import { addressOf } from '../../lib/network.ts';
import { oneLine } from '../text.ts';
import { TRY_MS_MAX } from './post.ts';
import {
  type Connector,
  checkAddress,
  describeInstances,
  type Outgoing,
  type Send,
  SendError,
  titleOf,
} from './receiver.ts';

const SUBJECT_CHARS_MAX = 200;
const INSTANCES_MAX = 100;
const PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };

export interface EmailSettings {
  /** `smtps://` begins with TLS; `smtp://` changes to it (STARTTLS), which only private servers may lack. */
  readonly url: URL;
  readonly from: string;
  readonly to: readonly string[];
}

/** Sends a mail of plain text over SMTP. */
export function createEmail(settings: EmailSettings, connector: Connector): Send {
  return async (outgoing, signal) => {
    const timeout = () => new SendError(`did not accept the mail within ${TRY_MS_MAX / 1_000} s`);
    const deadline = createDeadline(TRY_MS_MAX, timeout, signal);
    const socket = await openSocket(settings.url, connector, deadline.signal).catch(rethrow);
    try {
      await untilAborted(deliver(settings, { outgoing, socket, connector }), deadline.signal);
    } catch (error) {
      deadline.signal.throwIfAborted();
      rethrow(error);
    } finally {
      deadline.clear();
      socket.destroy();
    }
  };

  function rethrow(error: unknown): never {
    if (error instanceof SendError) throw error;
    const isRejected = (error as { responseCode?: unknown } | null)?.responseCode;
    throw new SendError(messageOf(error), {
      cause: error,
      isRejected: typeof isRejected === 'number' && isRejected >= 500,
    });
  }
}

/** Connects before the library does, so that the address that was checked is the one that is connected to. */
async function openSocket(url: URL, connector: Connector, signal: AbortSignal): Promise<Socket> {
  checkAddress(url, connector);
  const { lookup } = connector;
  return await new Promise((resolve, reject) => {
    const socket = connect({
      host: addressOf(url) ?? url.hostname,
      port: Number(url.port) || (PORTS[url.protocol] ?? 0),
      ...(lookup === undefined ? {} : { lookup }),
    });
    // Stays when the connection stands, for errors between two readers of the socket.
    socket.on('error', reject);
    socket.once('connect', () => resolve(socket));
    signal.addEventListener(
      'abort',
      () => {
        socket.destroy();
        reject(signal.reason);
      },
      { once: true },
    );
  });
}

interface Delivery {
  readonly outgoing: Outgoing;
  readonly socket: Socket;
  readonly connector: Connector;
}

async function deliver({ url, from, to }: EmailSettings, { outgoing, socket, connector }: Delivery) {
  const isTls = url.protocol === 'smtps:';
  const isLax = connector.isPrivate && !isTls;
  const transport = createTransport({
    connection: socket,
    host: addressOf(url) ?? url.hostname,
    secure: isTls,
    requireTLS: !isLax,
    // Mail servers beside the service offer STARTTLS with self-signed certificates; without TLS they would get the same
    // in the clear.
    tls: { rejectUnauthorized: !isLax },
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { rejected, rejectedErrors = [] } = await transport.sendMail({
    ...{ from, to: [...to], ...toMail(outgoing) },
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
