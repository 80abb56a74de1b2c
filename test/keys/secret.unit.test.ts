import { describe, expect, test } from 'vitest';
import { createSecret, findKeyId, hashKey, sameHash } from '../../src/keys/secret.ts';

describe('a secret', () => {
  test('has the prefix tr_, its id, 256 random bits, and is never the same', () => {
    const secrets = Array.from({ length: 100 }, createSecret);
    for (const { key, id, hash } of secrets) {
      expect(key).toMatch(/^tr_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
      expect(findKeyId(key)).toBe(id);
      expect(sameHash(hash, hashKey(key))).toBe(true);
    }
    expect(new Set(secrets.map((secret) => secret.key.slice(16))).size).toBe(100);
  });

  test.each([
    '',
    'tr_',
    'x',
    'tr_0123456789ab_short',
    `tr_0123456789AB_${'a'.repeat(43)}`,
    `tr_0123456789ab_${'a'.repeat(44)}`,
    ` tr_0123456789ab_${'a'.repeat(43)}`,
  ])('%j has not the form of a key', (text) => expect(findKeyId(text)).toBeUndefined());

  test('is another for another hash, also of another length', () => {
    expect(sameHash(hashKey('a'), hashKey('b'))).toBe(false);
    expect(sameHash(hashKey('a'), new Uint8Array())).toBe(false);
  });
});
