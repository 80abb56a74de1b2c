import type { ServerAddress } from '../../src/config/clickhouse.ts';

/** A server that lets everyone in. */
export function addressOf(url: string, database = 'tailrace'): ServerAddress {
  const account = { user: 'default', password: '', readUser: 'default', readPassword: '' };
  return { url, database, ...account, tls: undefined };
}
