import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { createTokens, looksLikeToken, openTokenSecret } from '../../src/keys/token.ts';
import { runs } from '../support/property.ts';
import { ownFolder } from '../support/service.ts';

const root = await ownFolder();
const SECRET = Buffer.alloc(32, 7);
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const GRANT = { scopes: ['query'], pins: { project: 'abc' } };
const ASKED = { parent: '0123456789ab', parentPrint: 'print', expiresMs: NOW_MS + 60_000, grant: GRANT };

function open(secret = SECRET) {
  const clock = { now: NOW_MS };
  return { tokens: createTokens({ secret, now: () => clock.now }), clock };
}

/** A token as somebody else may make it. */
const forge = (payload: Record<string, unknown>, alg = 'HS256', secret: Uint8Array = SECRET) =>
  new SignJWT({
    ...{ iss: 'tailrace', sub: 'x', jti: 'x', key: 'x', grant: {} },
    exp: NOW_MS / 1000 + 60,
    ...payload,
  })
    .setProtectedHeader({ alg })
    .sign(secret);

describe('a token', () => {
  test('tells nothing by which to try what its key is', () => {
    const hash = createHash('sha256').update('a key that a person thought of').digest();
    const { tokens } = open();
    expect(tokens.print(hash)).toMatch(/^[\w-]{16}$/);
    expect(tokens.print(hash)).not.toBe(hash.subarray(0, 12).toString('base64url'));
    expect(tokens.print(hash)).not.toBe(open(Buffer.alloc(32, 8)).tokens.print(hash));
  });

  test('says what was minted into it, however often it is read', async () => {
    const { tokens } = open();
    const { token, id } = await tokens.mint(ASKED);
    for (const _ of [1, 2, 3]) expect(await tokens.read(token)).toEqual({ id, ...ASKED });
    expect(looksLikeToken(token)).toBe(true);
    expect(looksLikeToken('tr_0123456789ab_x')).toBe(false);
  });

  test('is void when its time has come, also where it was read before', async () => {
    const { tokens, clock } = open();
    const { token } = await tokens.mint(ASKED);
    const { token: unread } = await tokens.mint(ASKED);
    await tokens.read(token);
    clock.now += 59_999;
    expect(await tokens.read(token)).toMatchObject({ parent: ASKED.parent });
    clock.now += 1;
    for (const text of [token, unread]) expect(await tokens.read(text)).toEqual({ reason: 'expired' });
  });

  test('changed in any place is not taken', async () => {
    const { tokens } = open();
    const { token } = await tokens.mint(ASKED);
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...'Aa0_-.'), async (at, sign) => {
        const changed = token.slice(0, at) + sign + token.slice(at + 1);
        // The last sign of base64 holds bits that stand for nothing.
        fc.pre(
          changed !== token &&
            Buffer.from(changed, 'base64url').compare(Buffer.from(token, 'base64url')) !== 0,
        );
        expect(await tokens.read(changed)).toEqual({ reason: 'unknown' });
      }),
      runs(300),
    );
  });

  test.each<[string, () => string | Promise<string>]>([
    ['signed with another secret', () => forge({}, 'HS256', Buffer.alloc(32, 8))],
    ['not signed at all', () => new UnsecuredJWT({ iss: 'tailrace', sub: 'x' }).encode()],
    ['of another issuer', () => forge({ iss: 'someone' })],
    ['that never expires', () => forge({ exp: undefined })],
    ['that is no token', () => 'eyJ.eyJ.eyJ'],
  ])('%s is not taken', async (_, make) => {
    expect(await open().tokens.read(await make())).toEqual({ reason: 'unknown' });
  });
});

describe('the secret', () => {
  const folder = () => mkdtempSync(join(root.path, 'data-'));

  test('is made once for a data directory, and only its owner can read it', async () => {
    const dir = folder();
    const first = openTokenSecret(dir, '');
    expect(first).toHaveLength(32);
    expect(Buffer.from(openTokenSecret(dir, ''))).toEqual(Buffer.from(first));
    expect(statSync(join(dir, 'token.secret')).mode & 0o777).toBe(0o600);
    expect(Buffer.from(openTokenSecret(folder(), ''))).not.toEqual(Buffer.from(first));
  });

  test('of the settings may be the text of another data directory’s file: its tokens stay valid', async () => {
    const old = folder();
    const first = openTokenSecret(old, '');
    const text = readFileSync(join(old, 'token.secret'), 'utf8').trim();
    expect(Buffer.from(openTokenSecret(folder(), text))).toEqual(Buffer.from(first));
    // Other texts are secrets as they stand, also those of the same length. They leave no file.
    const dir = folder();
    for (const other of [`${text.slice(0, -1)}~`, `${text}=`, 'x'.repeat(43)])
      expect(Buffer.from(openTokenSecret(dir, other)).toString()).toBe(other);
    expect(existsSync(join(dir, 'token.secret'))).toBe(false);
  });

  test('that is not whole is told, and left as it is', async () => {
    const dir = folder();
    writeFileSync(join(dir, 'token.secret'), 'short');
    chmodSync(join(dir, 'token.secret'), 0o600);
    expect(() => openTokenSecret(dir, '')).toThrow(/token\.secret is damaged: .*; delete it/);
    expect(readFileSync(join(dir, 'token.secret'), 'utf8')).toBe('short');
  });
});
