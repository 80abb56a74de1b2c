import { expect, test } from 'vitest';
import { createIdentity, findAddress } from '../../src/people/role.ts';

test.each([
  ['Kim@Example.com', 'kim@example.com'],
  ['\u212aim@example.com', '\u212aim@example.com'], // the Kelvin sign
  ['K\u0130m@example.com', 'k\u0130m@example.com'],
])('the case of an address does not count, and other letters stay: %s', (email, address) => {
  expect(findAddress({ email, email_verified: true })).toBe(address);
});

const boss = 'boss@example.com';
test.each([
  ['a verified address', { email: boss, email_verified: true, name: 'Ada' }, boss],
  ['the name beside an address that is not verified', { email: boss, name: 'Ada' }, 'Ada'],
  [
    'the name, if the provider does not say true',
    { email: boss, email_verified: 'true', name: 'Ada' },
    'Ada',
  ],
  ['no chosen name that looks like an address', { preferred_username: boss, name: 'Ada' }, 'Ada'],
  ['no chosen name that looks like an address in wide letters', { name: 'boss\uff20example.com' }, 'sub-7'],
  ['the subject, if there is nothing else', {}, 'sub-7'],
])('a person is named by %s', (_, claims, name) => {
  expect(createIdentity('https://login.example', 'sub-7', claims)?.name).toBe(name);
});
