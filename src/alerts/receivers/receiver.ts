import type { LookupFunction } from 'node:net';
import { messageOf } from '../../errors.ts';
import { createDeadline } from '../../lib/abort.ts';
import { addressOf, isPublicAddress } from '../../lib/network.ts';
import type { AlertMessage } from '../message.ts';
import { oneLine } from '../text.ts';

/** One try of a message. */
export interface Outgoing {
  /** The same for every try. */
  readonly id: string;
  readonly message: AlertMessage;
  /** ms since the epoch. */
  readonly sentAtMs: number;
}

/** One entry of the operator's file. */
export interface Receiver {
  readonly name: string;
  /** A key of `RECEIVER_KINDS`. */
  readonly kind: string;
  /** Changes with its entry in the file. */
  readonly version: string;
  /** Parts of its settings that no log or answer may contain. */
  readonly secrets: readonly string[];
  /** Set if the receiver forgets an alert: what fires is then sent again so often. */
  readonly resendMs?: number;
  /** Resolves when the receiver has accepted the message. @throws SendError, or the signal's reason */
  readonly send: Send;
}

export type Send = (outgoing: Outgoing, signal: AbortSignal) => Promise<void>;

/** What a receiver connects to, and how. */
export interface Target {
  readonly url: URL;
  /** Whether private and loopback addresses, and connections without TLS, are allowed. */
  readonly isPrivate: boolean;
  /** `undefined`: Node's. */
  readonly lookup: LookupFunction | undefined;
}

/** A try that failed. The message says why; it may contain a secret of the receiver (see `redact`). */
export class SendError extends Error {
  override readonly name = 'SendError';
  /** What `Retry-After` asks for. */
  readonly retryAfterMs: number | undefined;
  /** Whether the receiver rejected this message, while others may pass. */
  readonly isRejected: boolean;
  /** Whether another try would repeat what was accepted: a part of the message was. */
  readonly isFinal: boolean;

  constructor(message: string, options: Partial<Omit<SendError, 'name' | 'message'>> = {}) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
    this.isRejected = options.isRejected ?? false;
    this.isFinal = options.isFinal ?? false;
  }
}

// From the resolution of the name to the response.
const TRY_MS_MAX = 10_000;

/**
 * Runs one try. An address in the URL must be public unless the operator allows others; `lookup` checks those of names.
 * @throws SendError, or the signal's reason
 */
export async function attempt(
  { url, isPrivate }: Target,
  signal: AbortSignal,
  work: (ends: AbortSignal) => Promise<void>,
): Promise<void> {
  const timeout = () => new SendError(`did not respond within ${TRY_MS_MAX / 1_000} s`);
  const deadline = createDeadline(TRY_MS_MAX, timeout, signal);
  const address = addressOf(url);
  try {
    if (!isPrivate && address !== undefined && !isPublicAddress(address))
      throw new SendError(`${address} is not a public address`);
    await work(deadline.signal);
  } catch (error) {
    deadline.signal.throwIfAborted();
    throw error instanceof SendError ? error : new SendError(describeFailure(error), { cause: error });
  } finally {
    deadline.clear();
  }
}

function describeFailure(error: unknown): string {
  // Each of several addresses was tried, and failed.
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.map(messageOf).join('; ');
  return messageOf(error);
}

const REASON_CHARS_MAX = 300;

/** Returns the reason of a failure for logs and the history: one line, without the receiver's secrets. */
export function redact(reason: string, secrets: readonly string[]): string {
  const safe = secrets
    .filter((secret) => secret !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, '***'), reason);
  return safe
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .slice(0, REASON_CHARS_MAX)
    .toWellFormed();
}

/** Returns one line, such as `[firing] checkout.errors`. */
export function titleOf({ alert, status, test }: AlertMessage): string {
  return `[${test === true ? 'test, ' : ''}${status.replace('_', ' ')}] ${alert}`;
}

/** Returns a line for each of the first instances, such as `path=/orders (failures: 12)`, and how many others there are. */
export function describeInstances({ instances }: AlertMessage, countMax: number): string[] {
  const lines = instances.slice(0, countMax).map(({ labels, values }) => {
    const name = Object.entries(labels).map(([label, value]) => `${label}=${oneLine(value)}`);
    const numbers = Object.entries(values).map(([column, value]) => `${column}: ${oneLine(String(value))}`);
    return [name.join(', '), numbers.length > 0 ? `(${numbers.join(', ')})` : ''].join(' ').trim();
  });
  const others = instances.length - lines.length;
  return others > 0 ? [...lines, `and ${others} more`] : lines;
}
