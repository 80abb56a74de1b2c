import { describe, expect, test } from 'vitest';
import { findServerAddress } from '../../src/config/clickhouse.ts';
import { parseConfig } from '../../src/config/config.ts';
import { faultsOf } from '../support/config.ts';

const address = (env: Readonly<Record<string, string>>) => findServerAddress(parseConfig(env));

describe('the address of a server', () => {
  test('has users and database of the URL, decoded', () => {
    expect(address({ CLICKHOUSE_URL: 'https://a%40b:p%2Fw@ch.example.com:8443/logs/?cluster=main' })).toEqual(
      {
        url: 'https://ch.example.com:8443',
        database: 'logs',
        user: 'a@b',
        password: 'p/w',
        readUser: 'a@b',
        readPassword: 'p/w',
        sandbox: undefined,
        cluster: 'main',
        tls: undefined,
      },
    );
  });
});

describe('settings of a server that do not go together', () => {
  test('are told all at once', () => {
    const faults = faultsOf({
      CLICKHOUSE_URL: 'http://a:b@ch:8123',
      CLICKHOUSE_READ_USER: 's3cret',
      CLICKHOUSE_SANDBOX_USER: ':s3cret',
      CLICKHOUSE_TLS_FILE: 'server.pem',
      TAILRACE_STORE_BYTES_MAX: '1000',
    });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'CLICKHOUSE_READ_USER',
      'CLICKHOUSE_SANDBOX_USER',
      'CLICKHOUSE_TLS_FILE',
      'TAILRACE_STORE_BYTES_MAX',
    ]);
    expect(faults.join()).not.toContain('s3cret');
  });
});
