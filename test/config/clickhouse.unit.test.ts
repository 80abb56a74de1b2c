import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findServerAddress } from '../../src/config/clickhouse.ts';
import { parseConfig } from '../../src/config/config.ts';
import { faultsOf } from '../support/config.ts';
import { temporaryFolder } from '../support/service.ts';

const address = (env: Readonly<Record<string, string>>) => findServerAddress(parseConfig(env));

describe('the address of a server', () => {
  test('has users and database of the URL, decoded', () => {
    expect(address({ CLICKHOUSE_URL: 'https://a%40b:p%2Fw@ch.example.com:8443/logs/' })).toEqual({
      url: 'https://ch.example.com:8443',
      database: 'logs',
      user: 'a@b',
      password: 'p/w',
      readUser: 'a@b',
      readPassword: 'p/w',
      sandbox: undefined,
      tls: undefined,
    });
  });

  test('has a user for callers’ SQL where one is set, and none otherwise', () => {
    const env = { CLICKHOUSE_URL: 'http://ch:8123', CLICKHOUSE_READ_USER: 'reader' };
    expect(address(env)?.sandbox).toBeUndefined();
    const account = { CLICKHOUSE_SANDBOX_USER: 'sandbox', CLICKHOUSE_SANDBOX_PASSWORD: 'z' };
    expect(address({ ...env, ...account })).toMatchObject({
      readUser: 'reader',
      sandbox: { user: 'sandbox', password: 'z' },
    });
  });

  test('has the files of TLS, and says which cannot be read', async () => {
    const folder = await temporaryFolder();
    const file = (name: string) => join(folder.path, name);
    for (const name of ['ca', 'cert', 'key']) await writeFile(file(name), name);
    const url = { CLICKHOUSE_URL: 'https://ch:8443' };
    expect(address({ ...url, CLICKHOUSE_CA_FILE: file('ca') })?.tls).toEqual({ ca_cert: Buffer.from('ca') });
    const own = { CLICKHOUSE_CERT_FILE: file('cert'), CLICKHOUSE_KEY_FILE: file('key') };
    const tls = address({ ...url, CLICKHOUSE_CA_FILE: file('ca'), ...own })?.tls;
    expect(tls).toMatchObject({ cert: Buffer.from('cert'), key: Buffer.from('key') });
    expect(() => address({ ...url, CLICKHOUSE_CA_FILE: file('none') })).toThrow(
      /^CLICKHOUSE_CA_FILE: cannot be read: ENOENT/,
    );
    await folder.remove();
  });
});

describe('settings of a server that do not go together', () => {
  test('are told all at once', () => {
    const faults = faultsOf({
      CLICKHOUSE_URL: 'http://a:b@ch:8123',
      CLICKHOUSE_USER: 'a',
      CLICKHOUSE_PASSWORD: 's3cret',
      CLICKHOUSE_READ_PASSWORD: 's3cret',
      CLICKHOUSE_SANDBOX_PASSWORD: 's3cret',
      CLICKHOUSE_CERT_FILE: 'cert.pem',
      TAILRACE_STORE_BYTES_MAX: '1000',
    });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'CLICKHOUSE_USER',
      'CLICKHOUSE_PASSWORD',
      'CLICKHOUSE_READ_PASSWORD',
      'CLICKHOUSE_SANDBOX_PASSWORD',
      'CLICKHOUSE_CERT_FILE',
      'CLICKHOUSE_CERT_FILE',
      'TAILRACE_STORE_BYTES_MAX',
    ]);
    expect(faults.join()).not.toContain('s3cret');
  });
});
