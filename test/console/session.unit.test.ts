import { expect, test } from 'vitest';
import { withChoices } from '../../console/src/api/session.ts';

test('choices are added to a path, unless it has others', () => {
  const choices = { project: 'a b' };
  expect(withChoices('/api/me', choices)).toBe('/api/me?project=a+b');
  expect(withChoices('/api/search?q=x', choices)).toBe('/api/search?q=x&project=a+b');
  expect(withChoices('/api/search?project=c', choices)).toBe('/api/search?project=c');
  expect(withChoices('/api/search?q=why?&limit=1', choices)).toBe('/api/search?q=why?&limit=1&project=a+b');
  expect(withChoices('/api/me', {})).toBe('/api/me');
});
