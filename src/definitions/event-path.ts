import { type Static, Type } from 'typebox';

const MEMBER_NAMES = Type.Array(Type.String(), { minItems: 1, maxItems: 32 });

/** Paths to a value of an event, from its root. `toPaths` reads it. */
export const PATH = Type.Union(
  [
    Type.String({ minLength: 1 }),
    Type.Array(Type.Union([Type.String(), MEMBER_NAMES]), { minItems: 1, maxItems: 32 }),
  ],
  {
    expected:
      'member names joined by dots, or a list of such paths, of which the first that exists ' +
      'counts; a path whose names have dots is a list, such as [[metadata, http.status]]',
  },
);

/**
 * Returns the paths of a checked `path` or `project`, each as member names. A list that begins with `metadata` by
 * itself is one path: no column can have all of the metadata.
 */
export function toPaths(value: Static<typeof PATH>): readonly (readonly string[])[] {
  if (typeof value === 'string') return [value.split('.')];
  const names = value.filter((one) => typeof one === 'string');
  if (names.length === value.length && names[0] === 'metadata') return [names];
  return value.map((one) => (typeof one === 'string' ? one.split('.') : one));
}
