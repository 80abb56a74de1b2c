import { expect, test } from 'vitest';
import { findAddress } from '../../src/people/role.ts';

test.each([
  ['Kim@Example.com', 'kim@example.com'],
  ['\u212aim@example.com', '\u212aim@example.com'], // the Kelvin sign
  ['K\u0130m@example.com', 'k\u0130m@example.com'],
])('the case of an address does not count, and other letters stay: %s', (email, address) => {
  expect(findAddress({ email, email_verified: true })).toBe(address);
});
