import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLocalPath } from '../../src/people/cookie.ts';
import { runs } from '../support/property.ts';

const OWN = 'https://logs.example.com';

test.each([
  ...['//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example', '/\t/evil.example'],
  ...[' //evil.example', '/./\\evil.example', 'https://evil.example', 'https:evil.example', '@evil.example'],
  ...['/a/..//evil.example', '/.//evil.example', 'javascript:alert(1)', '\u0000//evil.example', ''],
  ...['/\u200b/evil.example', '/auth', '/auth/login', '/auth/callback?code=a', '/./auth/logout'],
])('a sign-in does not return to %j, another origin or the sign-in itself', (to) => {
  expect(findLocalPath(to)).toBeUndefined();
});

test('a sign-in returns to a path with its parameters', () => {
  for (const path of ['/', '/explore?q=a%2F%2Fb&range=6h', '/endpoints/logs.all?project=x#top', '/a?to=//b'])
    expect(findLocalPath(path)).toBe(path);
});

test('whatever path is accepted stays on the host', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^\/[/\\.@:a-z%09?#\t]{0,12}$/));
  fc.assert(
    fc.property(text, (one) => {
      const path = findLocalPath(one);
      if (path === undefined) return;
      expect(new URL(path, OWN).origin).toBe(OWN);
      expect(path).toMatch(/^\/(?!\/)/);
    }),
    runs(2_000),
  );
});
