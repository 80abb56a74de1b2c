import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Grant, isListed, isNarrower, SCOPES, toListed } from '../../src/keys/grant.ts';
import { runs } from '../support/property.ts';

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const names = maybe(fc.subarray(['a', 'b', 'c'], { minLength: 1 }));
const few = fc.integer({ min: 1, max: 3 });
const grants: fc.Arbitrary<Grant> = fc.record({
  scopes: fc.subarray([...SCOPES]),
  endpoints: names,
  sources: names,
  pins: fc.dictionary(fc.constantFrom('project', 'tier'), fc.constantFrom('x', 'y'), {
    noNullPrototype: true,
  }),
  rate: maybe(fc.record({ perSecond: few, burst: few })),
  expiresMs: maybe(few),
});

/** Everything that can be done with a grant, one by one: a narrower grant does a subset of it. */
function deedsOf(grant: Grant): Set<string> {
  const deeds = new Set<string>();
  const listed = (list: readonly string[] | undefined) => list ?? ['a', 'b', 'c', 'any other'];
  const valuesOf = (name: string) =>
    Object.hasOwn(grant.pins, name) ? [grant.pins[name]] : ['x', 'y', 'any other'];
  const deed = (...parts: unknown[]) => deeds.add(JSON.stringify(parts));
  for (const endpoint of listed(grant.endpoints)) deed('endpoint', endpoint);
  for (const source of listed(grant.sources)) deed('source', source);
  for (const name of ['project', 'tier']) for (const value of valuesOf(name)) deed(name, value);
  for (const scope of grant.scopes) deed('scope', scope);
  if (grant.scopes.includes('manage')) deed('scope', 'metrics');
  for (let n = 1; n <= (grant.rate?.perSecond ?? 4); n++) deed('a second', n);
  for (let n = 1; n <= (grant.rate?.burst ?? 4); n++) deed('at once', n);
  for (let n = 0; n < (grant.expiresMs ?? 4); n++) deed('at', n);
  return deeds;
}

describe('a grant', () => {
  test('is narrower than another exactly when nothing can be done with it that cannot with the other', () => {
    fc.assert(
      fc.property(grants, grants, (child, parent) => {
        expect(isNarrower(child, parent) === undefined).toBe(deedsOf(child).isSubsetOf(deedsOf(parent)));
      }),
      runs(5_000),
    );
  });

  test('lists by UUID in any letter case, or by name', () => {
    const id = '2f3c0a52-5f0b-4a57-9b1c-2f6f3f2b9d10';
    expect(toListed([id.toUpperCase(), 'logs.all', id])).toEqual([id, 'logs.all']);
    for (const list of [undefined, [id], ['x', 'logs.all']])
      expect(isListed(list, { id, name: 'logs.all' })).toBe(true);
    for (const list of [[], ['logs'], ['logs.all ']])
      expect(isListed(list, { id, name: 'logs.all' })).toBe(false);
  });
});
