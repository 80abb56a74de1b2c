import { isDecodable } from './clickhouse.ts';

/** What replicas share; they know one another by the secret of tokens. */
const NEED_SECRET = ['TAILRACE_CONTROL_URL', 'TAILRACE_REDIS_URL'] as const;
const NEED_SERVER = ['TAILRACE_REDIS_URL'] as const;

/**
 * Checks `TAILRACE_REDIS_URL`.
 *
 * @throws Error whose message says what would be right; it does not repeat the URL, which may hold a password
 */
export function parseRedisUrl(text: string): string {
  const right = 'such as rediss://user:password@redis.example.com:6379/0';
  if (!URL.canParse(text)) throw new Error(`must be an address, ${right}`);
  const url = new URL(text);
  if (!/^rediss?:$/.test(url.protocol)) throw new Error(`must begin with redis:// or rediss://, ${right}`);
  if (url.hostname === '' || url.search !== '' || url.hash !== '' || !/^\/?\d{0,4}$/.test(url.pathname))
    throw new Error(`must be a host and, as its path, the number of a database, ${right}`);
  if (![url.username, url.password].every(isDecodable))
    throw new Error('must have a user and password whose % are written as %25');
  return text;
}

/** Settings of replicas that do not go together: one line for each. */
export function findReplicaFaults(given: (variable: string) => boolean): string[] {
  const faults: string[] = [];
  const needs = NEED_SECRET.filter(given);
  if (needs.length > 0 && !given('TAILRACE_TOKEN_SECRET')) {
    faults.push(
      `TAILRACE_TOKEN_SECRET: must be set with ${needs.join(' and ')}, the same for all processes; "openssl rand -base64 32" makes one`,
    );
  }
  if (given('CLICKHOUSE_URL')) return faults;
  const alone = NEED_SERVER.filter(given).map(
    (variable) =>
      `${variable}: means nothing without CLICKHOUSE_URL: an embedded store belongs to one process, which has no replicas`,
  );
  return [...faults, ...alone];
}
