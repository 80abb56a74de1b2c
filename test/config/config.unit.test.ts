import { describe, expect, test } from 'vitest';
import { findServerAddress } from '../../src/config/clickhouse.ts';
import { findUnknownSettings, parseConfig } from '../../src/config/config.ts';
import { sizeEngine } from '../../src/config/setting.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { faultsOf } from '../support/faults.ts';

const MIB = 1024 ** 2;
const MACHINE = { cores: 2, memoryBytes: 24 * 1024 * MIB };

describe('the settings', () => {
  test('without an environment are those of the table, and cannot be changed', () => {
    const config = parseConfig({}, MACHINE);
    for (const [name, { fallback }] of Object.entries(SETTINGS))
      expect(config).toHaveProperty(name, typeof fallback === 'function' ? fallback(MACHINE) : fallback);
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('take the other names of the keys, which give way to their own', () => {
    const [privateKey, publicKey] = ['alias-0123456789', 'public-0123456789'];
    const alias = { LOGFLARE_PRIVATE_ACCESS_TOKEN: privateKey, LOGFLARE_PUBLIC_ACCESS_TOKEN: publicKey };
    expect(parseConfig(alias)).toMatchObject({ privateKey, publicKey });
    const own = 'own-0123456789ab';
    expect(parseConfig({ ...alias, TAILRACE_PRIVATE_KEY: own }).privateKey).toBe(own);
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
  ])('reject %s=%j', (name, value, message) => {
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
    const env = {
      ...{ TAILRACE_PORT: 'x', TAILRACE_READERS: 'y' },
      ...{ TAILRACE_PRIVATE_KEY: 'short', LOGFLARE_PUBLIC_ACCESS_TOKEN: 'tiny' },
    };
    const faults = faultsOf(env);
    expect(new Set(faults.map((fault) => fault.split(':')[0]))).toEqual(new Set(Object.keys(env)));
    expect(faults.join()).not.toMatch(/short|tiny/);
  });

  test('reject one key for both purposes, and a key that no header can carry', () => {
    const same = 'same-0123456789ab';
    expect(faultsOf({ TAILRACE_PRIVATE_KEY: same, LOGFLARE_PUBLIC_ACCESS_TOKEN: same })).toEqual([
      'TAILRACE_PUBLIC_KEY: must differ from TAILRACE_PRIVATE_KEY, which has every scope',
    ]);
    for (const key of ['schlüssel-0123456789', 'two words 0123456789', 'key-0123456789ab\n'])
      expect(faultsOf({ TAILRACE_PRIVATE_KEY: key })).toEqual([expect.stringMatching(/: must be of ASCII/)]);
  });
});

const SERVER = { CLICKHOUSE_URL: 'http://ch:8123' };
const SECRET = { TAILRACE_TOKEN_SECRET: 's'.repeat(32) };
const REDIS = { TAILRACE_REDIS_URL: 'redis://redis:6379' };
const SHARED = { ...SERVER, ...SECRET };

describe('the address of a server', () => {
  test.each([
    ['TAILRACE_REDIS_URL', 'redisUrl', 'redis://redis'],
    ['TAILRACE_REDIS_URL', 'redisUrl', 'rediss://user:p%40ss@redis.example.com:6380/15'],
    ['TAILRACE_CONTROL_URL', 'controlUrl', 'postgresql://postgres.example.com/tailrace'],
    [
      'TAILRACE_CONTROL_URL',
      'controlUrl',
      'postgresql://user@[::1]/tailrace?sslmode=verify-full&sslrootcert=/a',
    ],
  ] as const)('%s may be, as %s, %s', (name, setting, url) => {
    expect(parseConfig({ ...SHARED, [name]: url })[setting]).toBe(url);
  });

  test.each([
    ['TAILRACE_REDIS_URL', 'http://redis:6379', 'must begin with redis:// or rediss://'],
    [
      'TAILRACE_REDIS_URL',
      'redis://user:s3cret%ff@redis',
      'must have a user and password whose % are written as %25',
    ],
    ['TAILRACE_CONTROL_URL', 'mysql://user:s3cret@h/tailrace', 'must begin with postgresql://'],
    [
      'TAILRACE_CONTROL_URL',
      'postgresql://u:s3cret@h/t?sslmode=require',
      'one of disable, no-verify, verify-full',
    ],
  ])('%s is not %s, which is told without the password', (name, url, message) => {
    const [fault = '', ...others] = faultsOf({ ...SHARED, [name]: url });
    expect(others).toEqual([]);
    expect(fault).toMatch(new RegExp(`^${name}: `));
    expect(fault).toContain(message);
    expect(fault).not.toContain('s3cret');
  });

  test('has users and database of its URL, decoded', () => {
    const env = { CLICKHOUSE_URL: 'https://a%40b:p%2Fw@ch.example.com:8443/logs/?cluster=main' };
    expect(findServerAddress(parseConfig(env))).toEqual({
      ...{ url: 'https://ch.example.com:8443', database: 'logs', user: 'a@b', password: 'p/w' },
      ...{ readUser: 'a@b', readPassword: 'p/w', sandbox: undefined, cluster: 'main', tls: undefined },
    });
  });
});

test('settings of a server that do not go together are told all at once', () => {
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

test('what replicas share needs the secret that all have, and a server that all ask', () => {
  const control = { TAILRACE_CONTROL_URL: 'postgresql://tailrace:secret@postgres/tailrace' };
  expect(faultsOf({ ...REDIS, ...control, ...SERVER })).toEqual([
    'TAILRACE_TOKEN_SECRET: must be set too, since TAILRACE_CONTROL_URL and TAILRACE_REDIS_URL are, the same for all processes; "openssl rand -base64 32" prints one',
  ]);
  expect(faultsOf({ ...REDIS, ...SECRET })).toEqual([
    'CLICKHOUSE_URL: must be set too, since TAILRACE_REDIS_URL is: an embedded store has no users, and no replicas',
  ]);
  expect(faultsOf({ ...REDIS, ...SHARED })).toEqual([]);
  const receivers = { ...REDIS, ...SHARED, TAILRACE_RECEIVERS_FILE: 'receivers.yaml' };
  expect(faultsOf(receivers)).toEqual([
    'TAILRACE_RECEIVERS_FILE: needs TAILRACE_CONTROL_URL if TAILRACE_REDIS_URL is set: without a shared control store each replica would evaluate every alert and send its messages',
  ]);
  expect(faultsOf({ ...receivers, ...control })).toEqual([]);
});

test.each([
  [1, 1, 2, 512, 64, 2, 32],
  [64, 512, 16, 131_072, 2_048, 16, 512],
])(
  'defaults follow the machine: %i cores and %i GiB',
  (cores, gib, readers, engine, cache, mergeThreads, marks) => {
    const machine = { cores, memoryBytes: gib * 1024 * MIB };
    expect(parseConfig({}, machine)).toMatchObject({
      readers,
      engineMemoryBytesMax: engine * MIB,
      cacheBytesMax: cache * MIB,
    });
    expect(sizeEngine(machine, engine * MIB)).toEqual({ mergeThreads, markCacheBytes: marks * MIB });
  },
);
