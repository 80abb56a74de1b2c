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
