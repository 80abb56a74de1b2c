import { describe, expect, test } from 'vitest';
import { findUnknownSettings, parseConfig } from '../../src/config/config.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { faultsOf } from '../support/config.ts';

const MACHINE = { cores: 2, memoryBytes: 24 * 1024 ** 3 };

describe('the settings', () => {
  test('without an environment are those of the table, and cannot be changed', () => {
    const config = parseConfig({}, MACHINE);
    for (const [name, { fallback }] of Object.entries(SETTINGS))
      expect(config).toHaveProperty(name, typeof fallback === 'function' ? fallback(MACHINE) : fallback);
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('take the other names of the keys, which give way to their own', () => {
    const alias = {
      LOGFLARE_PRIVATE_ACCESS_TOKEN: 'alias-0123456789',
      LOGFLARE_PUBLIC_ACCESS_TOKEN: 'public-0123456789',
    };
    expect(parseConfig(alias)).toMatchObject({
      privateKey: 'alias-0123456789',
      publicKey: 'public-0123456789',
    });
    expect(parseConfig({ ...alias, TAILRACE_PRIVATE_KEY: 'own-0123456789ab' }).privateKey).toBe(
      'own-0123456789ab',
    );
  });

  test.each([
    [
      'TAILRACE_PORT',
      '65536',
      'TAILRACE_PORT: must be a whole number from 0 to 65535 (port), such as 4000, not "65536"',
    ],
    ['TAILRACE_READERS', '17', /^TAILRACE_READERS: must be at most 16 on the embedded engine/],
    ['TAILRACE_LOG_LEVEL', 'loud', /^TAILRACE_LOG_LEVEL: must be one of trace, .*, not "loud"$/],
    ['TAILRACE_PUBLIC_URL', 'https://logs/?a=b', /^TAILRACE_PUBLIC_URL: must have no user, parameters or #/],
    ['CLICKHOUSE_READ_USER', 'x:y', /^CLICKHOUSE_URL: must be set too, since CLICKHOUSE_READ_USER is/],
    ['TAILRACE_TLS_CERT_FILE', 'a.pem', /^TAILRACE_TLS_KEY_FILE: must be set too/],
    ['TAILRACE_CORS_ORIGINS', 'app.example.com', /must be origins such as/],
    ['TAILRACE_TRUST_PROXY', 'true', /must be the addresses of your proxies/],
    ['TAILRACE_TRUST_PROXY', '0.0.0.0/0', /must be the addresses of your proxies/],
  ])('refuse %s=%j', (name, value, message) => {
    const faults = faultsOf({ [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(message);
  });

  test('that are none are named, with what stands in their place or what they may mean', () => {
    const names = ['TAILRACE_PROT', 'TAILRACE_CLUSTER', 'TAILRACE_KEY', 'TAILRACE_HOST', 'CLICKHOUSE_X'];
    expect(findUnknownSettings(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([
      expect.stringMatching(/^TAILRACE_PROT is not a setting; did you mean TAILRACE_PORT/),
      'TAILRACE_CLUSTER is gone: write ?cluster=name at the end of CLICKHOUSE_URL',
    ]);
  });

  test('report every wrong value at once, and never a key', () => {
    const faults = faultsOf({
      TAILRACE_PORT: 'x',
      TAILRACE_READERS: 'y',
      TAILRACE_PRIVATE_KEY: 'short',
      LOGFLARE_PUBLIC_ACCESS_TOKEN: 'tiny',
    });
    expect(new Set(faults.map((fault) => fault.split(':')[0]))).toEqual(
      new Set(['TAILRACE_PORT', 'TAILRACE_READERS', 'TAILRACE_PRIVATE_KEY', 'LOGFLARE_PUBLIC_ACCESS_TOKEN']),
    );
    expect(faults.join()).not.toMatch(/short|tiny/);
  });

  test('refuse one key for both purposes, and a key that no header can carry', () => {
    const same = 'same-0123456789ab';
    expect(faultsOf({ TAILRACE_PRIVATE_KEY: same, LOGFLARE_PUBLIC_ACCESS_TOKEN: same })).toEqual([
      'TAILRACE_PUBLIC_KEY: must differ from TAILRACE_PRIVATE_KEY, which has every scope',
    ]);
    for (const key of ['schlüssel-0123456789', 'two words 0123456789', 'key-0123456789ab\n'])
      expect(faultsOf({ TAILRACE_PRIVATE_KEY: key })).toEqual([expect.stringMatching(/: must be of ASCII/)]);
  });
});
