import { expect, test } from 'vitest';
import type { Endpoint } from '../../src/definitions/endpoint.ts';
import { PINNED_PREFIX } from '../../src/definitions/parameter.ts';
import { createCursors } from '../../src/query/cursor.ts';
import { CACHED } from '../support/cached-endpoint.ts';

const by = [{ name: 'id', type: 'string', isDescending: true }] as const;
const pages = { by, size: 10, sources: [], canSkip: false, range: undefined };
const ENDPOINT: Endpoint = { ...CACHED, pages };

test('a cursor is that of one key, where the endpoint matches its pin as a pattern', () => {
  const cursors = createCursors(Buffer.alloc(32, 7));
  const valuesOf = (pin: string) => ({ a: 'acme', b: '', [`${PINNED_PREFIX}a`]: pin });
  const cursor = cursors.createWriter(ENDPOINT, valuesOf('acme'))(['x']);
  expect(cursors.read(ENDPOINT, valuesOf('acme'), { cursor })).toEqual(['x']);
  expect(() => cursors.read(ENDPOINT, valuesOf(''), { cursor })).toThrow(/for a key with other pins/);
});
