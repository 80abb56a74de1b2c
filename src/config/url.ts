import { isIP } from 'node:net';

// Messages of this file say what would be right and do not repeat a URL, which may hold a password.

/** Parses a URL of a server. @throws Error saying what would be right */
function parseUrl(text: string, schemes: readonly string[], right: string): URL {
  if (!URL.canParse(text)) throw new Error(`must be an address, such as ${right}`);
  const url = new URL(text);
  if (!schemes.some((scheme) => text.toLowerCase().startsWith(`${scheme}://`)))
    throw new Error(
      `must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}, such as ${right}`,
    );
  if (![url.username, url.password, url.pathname].every(isDecodable))
    throw new Error('must have a user and password whose % are written as %25');
  return url;
}

/** Whether each `%` of a part of a URL is followed by the code of a character in UTF-8. */
export function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** Checks `CLICKHOUSE_URL`: http or https, optionally with user, password, database and cluster. @throws Error */
export function parseServerUrl(text: string): string {
  const right = 'https://user:password@clickhouse.example.com:8443/tailrace';
  const { searchParams, hash, pathname } = parseUrl(text, ['http', 'https'], right);
  if (hash !== '' || [...searchParams.keys()].some((name) => name !== 'cluster'))
    throw new Error(`must end with the database or ?cluster=<name>, such as ${right}?cluster=main`);
  if (!/^\w[\w.-]{0,99}$/.test(searchParams.get('cluster') ?? 'none'))
    throw new Error('its cluster must be a name of letters, digits, dots, dashes and underscores');
  if (!/^\/(?:[A-Za-z_]\w{0,62}\/?)?$/.test(pathname))
    throw new Error(
      `must have one database of letters, digits and underscores as its path, such as ${right}`,
    );
  return text;
}

/** Checks `TAILRACE_PUBLIC_URL`. @returns it without a slash at its end @throws Error */
export function parsePublicUrl(text: string): string {
  const right = 'https://logs.example.com';
  const { origin, pathname } = parsePlainUrl(text, right);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** Checks `TAILRACE_OIDC_ISSUER`, in the provider’s own spelling: without TLS only on this machine. @throws Error */
export function parseIssuer(text: string): string {
  const right = 'https://login.example.com/realms/main';
  if (!isConfidential(parsePlainUrl(text, right)))
    throw new Error(`must begin with https://, such as ${right}`);
  return text;
}

/** Parses an address of HTTP that is no more than a place. @throws Error */
function parsePlainUrl(text: string, right: string): URL {
  const url = parseUrl(text, ['http', 'https'], right);
  const { username, password, search, hash } = url;
  if (username !== '' || password !== '' || search !== '' || hash !== '')
    throw new Error(`must have no user, parameters or #, such as ${right}`);
  return url;
}

/** Whether nobody in between can read what is sent to an address: over HTTPS, or on this machine. */
export function isConfidential({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopbackHost(hostname);
}

/** Whether a host name, as in a URL, is this machine's own. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** Checks `name:secret`. @throws Error */
export function parseAccount(text: string): string {
  if (!/^[^:\s]+:/.test(text)) throw new Error('must be a name and a password, joined by a colon');
  return text;
}

/** Checks name and secret of an OpenID Connect client. @throws Error */
export function parseClient(text: string): string {
  if (/^[^:\s]+:./.test(text.trim())) return parseAccount(text);
  throw new Error('must be a name and a secret, joined by a colon');
}

/** Splits what `parseAccount` has checked. */
export function splitAccount(account: string): { readonly user: string; readonly password: string } {
  const end = account.indexOf(':');
  return { user: account.slice(0, end), password: account.slice(end + 1) };
}

/** Checks the names of one or two headers. @returns them in lower case, joined by a comma @throws Error */
export function parseHeaderNames(text: string): string {
  const names = text.split(',').map((name) => parseHeaderName(name.trim()));
  if (names.length > 2 || new Set(names).size < names.length)
    throw new Error('must be at most two names of headers, joined by a comma');
  return names.join(',');
}

/** Checks the name of a header. @returns it in lower case @throws Error */
function parseHeaderName(text: string): string {
  const name = text.toLowerCase();
  if (/^[a-z0-9-]{1,100}$/.test(name) && !RESERVED.includes(name)) return name;
  throw new Error('must be the name of a header that only your proxy sets, such as X-Forwarded-Email');
}

// What others decide by: a browser or a proxy in between sends them for other reasons.
const RESERVED = (
  'authorization cookie forwarded host origin referer user-agent x-api-key x-forwarded-for x-forwarded-host ' +
  'x-forwarded-proto x-request-id x-tailrace-console'
).split(' ');

// Other clients disagree on `require` and `prefer`; these modes are unambiguous.
const SSL_MODES = ['disable', 'no-verify', 'verify-full'];
const SSL_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** Checks `TAILRACE_CONTROL_URL`: a PostgreSQL database and its TLS mode. @throws Error */
export function parseControlUrl(text: string): string {
  const right = 'postgresql://user:password@postgres.example.com:5432/tailrace?sslmode=verify-full';
  const { hostname, pathname, searchParams, hash } = parseUrl(text, ['postgresql', 'postgres'], right);
  if (hostname === '') throw new Error(`must name a host, such as ${right}`);
  if (!/^\/[^/]+$/.test(pathname) || hash !== '')
    throw new Error(`must have one database as its path, such as ${right}`);
  const allowed = ['sslmode', ...SSL_FILES];
  if (![...searchParams.keys()].every((name) => allowed.includes(name)))
    throw new Error(`must have no parameters but ${allowed.join(', ')}`);
  const mode = searchParams.get('sslmode');
  if (mode === null && SSL_FILES.some((name) => searchParams.has(name)))
    throw new Error(`must have sslmode, one of ${SSL_MODES.join(', ')}`);
  if (mode !== null && !SSL_MODES.includes(mode))
    throw new Error(`must have as its sslmode one of ${SSL_MODES.join(', ')}`);
  return text;
}

/** Checks `TAILRACE_REDIS_URL`. @throws Error */
export function parseRedisUrl(text: string): string {
  const right = 'rediss://user:password@redis.example.com:6379/0';
  const { hostname, pathname, search, hash } = parseUrl(text, ['redis', 'rediss'], right);
  if (hostname === '' || search !== '' || hash !== '' || !/^\/?\d{0,4}$/.test(pathname))
    throw new Error(`must be a host and, as its path, the number of a database, such as ${right}`);
  return text;
}

/** Checks origins as browsers send them, joined by commas, or only `*`: all origins. @throws Error */
export function parseOrigins(text: string): string {
  const origins = split(text);
  // A browser sends an origin in exactly this spelling, and it is compared as text.
  const isOrigin = (one: string) =>
    /^https?:\/\/[^*]+$/.test(one) && URL.canParse(one) && new URL(one).origin === one;
  if (origins.join() === '*' || origins.every(isOrigin)) return origins.join(',');
  throw new Error(
    'must be origins such as https://app.example.com joined by commas, lower case and without a path, or only *',
  );
}

/** Checks addresses and networks of proxies, joined by commas. @throws Error */
export function parseProxies(text: string): string {
  const proxies = split(text);
  if (proxies.every(isNetwork)) return proxies.join(',');
  throw new Error(
    'must be the addresses of your proxies, such as 127.0.0.1, or their networks, such as 10.0.0.0/8, joined by commas',
  );
}

/** Whether a text is an address or a network, such as `10.0.0.0/8`. */
function isNetwork(text: string): boolean {
  const [, address = '', bits = '1'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bitsMax = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : 0;
  // A network of 0 bits has every address: anyone could then claim any of them.
  return Number(bits) > 0 && Number(bits) <= bitsMax;
}

function split(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}
