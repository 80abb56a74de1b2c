import type { LookupFunction } from 'node:net';
import type { AlertMessage } from '../outbox.ts';

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
  /** Parts of its settings that no log or answer may contain. */
  readonly secrets: readonly string[];
  /** Set if the receiver forgets an alert: what fires is then sent again so often. */
  readonly resendMs?: number;
  /** Resolves when the receiver has accepted the message. @throws SendError, or the signal's reason */
  readonly send: Send;
}

export type Send = (outgoing: Outgoing, signal: AbortSignal) => Promise<void>;

/** What kinds of receivers connect with. */
export interface Connector {
  /** Whether private and loopback addresses, and connections without TLS, are allowed. */
  readonly isPrivate: boolean;
  /** `undefined`: Node's. */
  readonly lookup: LookupFunction | undefined;
}

export interface SendErrorOptions {
  readonly cause?: unknown;
  /** What `Retry-After` asks for. */
  readonly retryAfterMs?: number | undefined;
  /** Whether the receiver rejected this message, while others may pass. */
  readonly isRejected?: boolean;
}

/** A try that failed. The message says why; it may contain a secret of the receiver (see `redact`). */
export class SendError extends Error {
  override readonly name = 'SendError';
  readonly retryAfterMs: number | undefined;
  readonly isRejected: boolean;

  constructor(message: string, { cause, retryAfterMs, isRejected = false }: SendErrorOptions = {}) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
    this.isRejected = isRejected;
  }
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
