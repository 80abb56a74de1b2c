import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findLocalPath } from '../../src/people/local-path.ts';
import { runs } from '../support/property.ts';
import { REDIRECTS } from './attacks/redirects.ts';

const OWN = 'https://logs.example.com';

describe('the path to return to', () => {
  test(`of ${REDIRECTS.length} shapes of another origin, or of the sign-in itself, is refused`, () => {
    expect(REDIRECTS.length).toBeGreaterThan(100);
    for (const shape of REDIRECTS) expect([shape, findLocalPath(shape)]).toEqual([shape, undefined]);
  });

  test('is kept with its parameters', () => {
    for (const path of [
      '/',
      '/explore?q=a%2F%2Fb&range=6h',
      '/endpoints/logs.all?project=x#top',
      '/a?to=//b',
    ])
      expect(findLocalPath(path)).toBe(path);
  });

  test('whatever is accepted stays on the host', () => {
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
});
