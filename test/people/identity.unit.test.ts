import { expect, test } from 'vitest';
import type { SessionRecord } from '../../src/keys/session-store.ts';
import { createIdentity, createPeopleCallers, findAddress, type Role } from '../../src/people/role.ts';

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
  ['the name, unless the provider says true', { email: boss, email_verified: 'true', name: 'Ada' }, 'Ada'],
  ['no chosen name that looks like an address', { preferred_username: boss, name: 'Ada' }, 'Ada'],
  ['no chosen name that looks like an address in wide letters', { name: 'boss\uff20example.com' }, 'sub-7'],
  ['no chosen name that has the id of somebody', { name: 'Ada (PERSON:0123456789abcdef01234567)' }, 'sub-7'],
  ['the subject, if there is nothing else', {}, 'sub-7'],
  [
    'the start of a name of any script, without control characters',
    { name: `Zoë\u202e 王\u0007\n${'ß'.repeat(4_096)}` },
    `Zoë  王 ${'ß'.repeat(193)}`,
  ],
])('a person is named by %s', (_, claims, name) => {
  expect(createIdentity('https://login.example', 'sub-7', claims)?.name).toBe(name);
});

const ROLE: Role = {
  ...{ name: 'a', groups: undefined, claims: {}, addresses: undefined },
  ...{ scopes: ['query'], pins: {}, claimPins: {} },
};

/** The caller of a person with these claims. */
function callerWith(claims: SessionRecord['claims'], role: Role) {
  const { ofSession } = createPeopleCallers(() => ({ roles: [role], isBroken: false }));
  const times = { createdMs: 0, seenMs: 0, expiresMs: 0 };
  const texts = { id: '', hash: '', owner: '', name: '', print: '', login: '', address: '', agent: '' };
  return ofSession({ ...texts, ...times, claims }, '/');
}

test.each([
  ['7', '7', true],
  ['true', 'true', true],
  ['"7"', '7', true],
  ['[6, 7]', '7', true],
  ['[[7]]', '7', false],
  ['7.5', '7.5', false],
  ['12345678901234567891', '12345678901234567000', false], // as which JavaScript reads it, and many others
  ['null', 'null', false],
  ['{}', '[object Object]', false],
])('a claim %s is the text %j of a role: %j', (claim, text, isFit) => {
  const claims = { org: JSON.parse(claim) as unknown };
  const { scopes } = callerWith(claims, { ...ROLE, claims: { org: text } });
  expect(scopes).toEqual(isFit ? ['query'] : []);
});

test.each([
  [{ id: 'aurora' }, 'must be a string or a list of strings'],
  [7, 'must be a string or a list of strings'],
  [[], 'is missing or empty'],
  [['aurora', ''], 'has a value that cannot be a pin'],
  [undefined, 'is missing or empty'],
  [Array.from({ length: 1_001 }, (_, i) => `p${i}`), 'has 1001 values; it may have 1000'],
])('a person whose pin cannot be found in the claim has no access: %j', (projects, why) => {
  const { scopes, person } = callerWith(
    { projects },
    { ...ROLE, claims: {}, claimPins: { project: 'projects' } },
  );
  expect([scopes, person?.denied]).toEqual([[], expect.stringContaining(why)]);
});
