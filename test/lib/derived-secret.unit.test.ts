import { expect, test } from 'vitest';
import { createNames, deriveSecret } from '../../src/lib/derived-secret.ts';

const SECRET = Buffer.from('a secret');

test('a secret for one purpose is the same each time, and another for another purpose or of another secret', () => {
  const secrets = [
    deriveSecret(SECRET, 'names'),
    deriveSecret(SECRET, 'answers'),
    deriveSecret(Buffer.from('another'), 'names'),
  ].map((secret) => Buffer.from(secret).toString('hex'));
  expect(new Set(secrets).size).toBe(3);
  expect(secrets[0]).toHaveLength(64);
  expect(Buffer.from(deriveSecret(SECRET, 'names')).toString('hex')).toBe(secrets[0]);
});

test('a name begins in clear, and tells nothing of what it stands for', () => {
  const nameOf = createNames(SECRET, 'prefix:');
  expect(nameOf('project')).toMatch(/^prefix:[\w-]{43}$/);
  expect(nameOf('project')).toBe(nameOf('project'));
  expect(nameOf('project')).not.toBe(nameOf('project2'));
  expect(createNames(Buffer.from('another'), 'prefix:')('project')).not.toBe(nameOf('project'));
});
