import { isDecodable } from './clickhouse.ts';

const RIGHT = 'such as postgresql://user:password@postgres.example.com:5432/tailrace?sslmode=verify-full';

// What other clients mean by `require` or `prefer` differs from one to the next; these say what they do.
const SSL_MODES = ['disable', 'no-verify', 'verify-full'];
const SSL_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * Checks `TAILRACE_CONTROL_URL`: a PostgreSQL database, and how it is spoken to.
 *
 * @throws Error whose message says what would be right; it does not repeat the URL, which may hold a password
 */
export function parseControlUrl(text: string): string {
  if (!/^postgres(?:ql)?:\/\//.test(text)) throw new Error(`must begin with postgresql://, ${RIGHT}`);
  if (!URL.canParse(text)) throw new Error(`must be an address, ${RIGHT}`);
  const { username, password, hostname, pathname, searchParams, hash } = new URL(text);
  if (hostname === '') throw new Error(`must name a host, ${RIGHT}`);
  if (!/^\/[^/]+$/.test(pathname) || hash !== '')
    throw new Error(`must have one database as its path, ${RIGHT}`);
  if (![username, password, pathname].every(isDecodable))
    throw new Error('must have a user and password whose % are written as %25');
  const allowed = ['sslmode', ...SSL_FILES];
  const other = [...searchParams.keys()].find((name) => !allowed.includes(name));
  if (other !== undefined) throw new Error(`must have no parameters but ${allowed.join(', ')}`);
  const mode = searchParams.get('sslmode');
  if (mode === null) {
    if (SSL_FILES.some((name) => searchParams.has(name))) throw new Error('must have sslmode, too');
  } else if (!SSL_MODES.includes(mode)) {
    throw new Error(`must have as its sslmode one of ${SSL_MODES.join(', ')}`);
  }
  return text;
}
