/** A session of the console as it is stored: the hash of its secret, never the secret. Times are ms since the epoch. */
export interface SessionRecord {
  /** Public: names the session in lists. */
  readonly id: string;
  /** SHA-256 of the cookie's value, hexadecimal. */
  readonly hash: string;
  /** The `keyId` of its caller. */
  readonly owner: string;
  /** For lists and the audit trail. */
  readonly name: string;
  /** What the provider says of the person; `undefined`: the session of a key. */
  readonly claims: Claims | undefined;
  /** Fingerprint of the key; empty for a person. */
  readonly print: string;
  /** Hash of the `state` of its sign-in, which opens no second session; empty for a key. */
  readonly login: string;
  readonly createdMs: number;
  /** Up to a minute late. */
  readonly seenMs: number;
  readonly expiresMs: number;
  /** Address and user agent of the client that signed in. */
  readonly address: string;
  readonly agent: string;
}

/** Claims of an ID token and of the provider's user info: JSON. */
export type Claims = Readonly<Record<string, unknown>>;

export const SESSION_COLUMNS = [
  ...['id', 'hash', 'owner', 'name', 'claims', 'print', 'login'],
  ...['created_ms', 'seen_ms', 'expires_ms', 'address', 'agent'],
];

/** Returns the values in the order of `SESSION_COLUMNS`. */
export function toSessionRow(record: SessionRecord): readonly (string | number | null)[] {
  const { id, hash, owner, name, claims, print, login, createdMs, seenMs, expiresMs } = record;
  const texts = [name, claims === undefined ? '' : JSON.stringify(claims), print].map(toStorable);
  const last = [record.address, record.agent].map(toStorable);
  return [id, hash, owner, ...texts, login === '' ? null : login, createdMs, seenMs, expiresMs, ...last];
}

export function toSession(row: Readonly<Record<string, unknown>>): SessionRecord {
  const claims = String(row['claims']);
  return {
    id: String(row['id']),
    hash: String(row['hash']),
    owner: String(row['owner']),
    name: String(row['name']),
    claims: claims === '' ? undefined : (JSON.parse(claims) as Claims), // only toSessionRow writes it
    print: String(row['print']),
    login: row['login'] === null ? '' : String(row['login']),
    createdMs: Number(row['created_ms']),
    seenMs: Number(row['seen_ms']),
    expiresMs: Number(row['expires_ms']),
    address: String(row['address']),
    agent: String(row['agent']),
  };
}

/** PostgreSQL's text has no NUL and no halves of a surrogate pair. In JSON both are escaped. */
function toStorable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
