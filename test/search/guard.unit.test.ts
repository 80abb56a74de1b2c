import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeText } from '../../src/search/text.ts';
import { guardSearches } from '../../src/sql/search-guard.ts';
import { findTextSearches } from '../../src/sql/text-search.ts';
import { runs } from '../support/property.ts';

// Without NUL, whose literal `findTextSearches` does not read. The engine gets the SQL of a search as it is (definitions/endpoint.ts), so that it has to have its guards.
test('the SQL of a text has each guard that it needs', () => {
  const letter = fc.constantFrom(..."aKéΣ接\\%_'[](?*^-😀", '\ud800', 'ab c');
  const text = fc.array(letter, { minLength: 1, maxLength: 8 }).map((letters) => letters.join(''));
  const value = fc
    .tuple(text, text)
    .chain(([one, other]) => fc.constantFrom([one] as const, [one, other] as const));
  fc.assert(
    fc.property(value, (given) => {
      const sql = writeText(given);
      for (const { start } of findTextSearches(sql)) {
        const isGuarded = /^(?:identity\(|concat\(identity\()/.test(sql.slice(start));
        const own = findTextSearches(sql).filter((search) => search.start === start);
        expect(isGuarded || guardSearches(sql, own, () => '') === sql, sql).toBe(true);
      }
      expect(findTextSearches(sql).length).toBeGreaterThan(0);
    }),
    runs(500),
  );
});
