import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLocalPath } from '../../src/people/credential.ts';
import { runs } from '../support/property.ts';

const OWN = 'https://logs.example.com';

const HOSTS = ['evil.example', 'logs.example.com@evil.example', 'evil.example:80', '[::1]'];
/** `H` stands for the host. */
const SHAPES = [
  ...String.raw`//H ///H ////H /\H \\H \/H //\H /./\H http://H https://H HTTPS://H http:H http:/H`.split(' '),
  ...String.raw`https:\\H //H/%2f.. /.//H /..//H /a/..//H javascript:alert(1)//H data:text/html,H`.split(' '),
  ...'blob:H file://H //H#/ //H?/ H .H @H :H ?//H #//H'.split(' '),
  ...['/\t/H', '/\n/H', '/\r/H', '\t//H', ' //H', '\0//H'],
  ...['\ufeff//H', '\u2028//H', '//\u3002H', '/\u200b/H'],
];

test('a sign-in does not return to another origin, in any of 160 shapes', () => {
  const shapes = HOSTS.flatMap((host) => SHAPES.map((shape) => shape.replace('H', host)));
  expect(shapes.length).toBe(160);
  expect(shapes.filter((to) => findLocalPath(to) !== undefined)).toEqual([]);
});

test.each(['', '/auth', '/auth/login', '/auth/callback?code=a', '/./auth/logout'])(
  'a sign-in does not return to %j, the sign-in itself',
  (to) => expect(findLocalPath(to)).toBeUndefined(),
);

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
