import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { faultsOf } from '../support/config.ts';

const SERVER = { CLICKHOUSE_URL: 'http://ch:8123' };
const SECRET = { TAILRACE_TOKEN_SECRET: 's'.repeat(32) };
const REDIS = { TAILRACE_REDIS_URL: 'redis://redis:6379' };

describe('what replicas share', () => {
  test.each(['redis://redis', 'rediss://user:p%40ss@redis.example.com:6380/15'])('%s is a Redis', (url) => {
    expect(parseConfig({ ...SERVER, ...SECRET, TAILRACE_REDIS_URL: url }).redisUrl).toBe(url);
  });

  test.each([
    ['http://redis:6379', 'must begin with redis:// or rediss://'],
    ['redis://user:secret%ff@redis', 'must have a user and password whose % are written as %25'],
  ])('%s is none, which is told without the password', (url, message) => {
    const [fault = '', ...others] = faultsOf({ ...SERVER, ...SECRET, TAILRACE_REDIS_URL: url });
    expect(others).toEqual([]);
    expect(fault).toContain(`TAILRACE_REDIS_URL: ${message}`);
    expect(fault).not.toContain('secret%');
  });

  test('needs the secret that all have, and a server that all ask', () => {
    const control = { TAILRACE_CONTROL_URL: 'postgresql://tailrace:secret@postgres/tailrace' };
    expect(faultsOf({ ...REDIS, ...control, ...SERVER })).toEqual([
      'TAILRACE_TOKEN_SECRET: must be set too, since TAILRACE_CONTROL_URL and TAILRACE_REDIS_URL are, the same for all processes; "openssl rand -base64 32" prints one',
    ]);
    expect(faultsOf({ ...REDIS, ...SECRET })).toEqual([
      'CLICKHOUSE_URL: must be set too, since TAILRACE_REDIS_URL is: an embedded store has no users, and no replicas',
    ]);
    expect(faultsOf({ ...REDIS, ...SERVER, ...SECRET })).toEqual([]);
    const receivers = { ...REDIS, ...SERVER, ...SECRET, TAILRACE_RECEIVERS_FILE: 'receivers.yaml' };
    expect(faultsOf(receivers)).toEqual([
      'TAILRACE_RECEIVERS_FILE: needs TAILRACE_CONTROL_URL if TAILRACE_REDIS_URL is set: without a shared control store each replica would evaluate every alert and send its messages',
    ]);
    expect(faultsOf({ ...receivers, ...control })).toEqual([]);
  });
});
