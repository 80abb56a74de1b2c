import { isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of this package, which lies as far above this file as above the built one. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Where a file or folder that ships with Tailrace is, as somebody in the working folder would open it: `docs/settings.md` in a
 * checkout, `node_modules/tailrace/docs/settings.md` beside an installed package.
 *
 * @param name path from the root of the package
 */
export function packagePath(name: string): string {
  const path = join(ROOT, name);
  const near = relative(process.cwd(), path);
  return near.startsWith('..') || isAbsolute(near) ? path : near;
}
