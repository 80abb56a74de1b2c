import { expect, test } from 'vitest';
import { createSecret, findKeyId, hashKey, sameHash } from '../../src/keys/grant.ts';

test('a secret has the prefix tr_, its id, 256 random bits, and is never the same', () => {
  const secrets = Array.from({ length: 100 }, createSecret);
  for (const { key, id, hash } of secrets) {
    expect(key).toMatch(/^tr_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
    expect(findKeyId(key)).toBe(id);
    expect(sameHash(hash, hashKey(key))).toBe(true);
  }
  expect(new Set(secrets.map((secret) => secret.key.slice(16))).size).toBe(100);
  for (const other of [hashKey('b'), new Uint8Array()]) expect(sameHash(hashKey('a'), other)).toBe(false);
});

const right = `tr_0123456789ab_${'a'.repeat(43)}`;
test.each(['', 'x', 'tr_0123456789ab_short', `tr_0123456789AB_${'a'.repeat(43)}`, `${right}a`, ` ${right}`])(
  '%j has not the form of a key',
  (text) => expect(findKeyId(text)).toBeUndefined(),
);
