import { isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of this package; src/lib/ and dist/lib/ are equally deep. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Returns the path of a file or folder of the package, relative to the working folder if it lies below it:
 * `docs/settings.md` in a checkout, `node_modules/tailrace/docs/settings.md` beside an installed package.
 *
 * @param name path from the root of the package
 */
export function packagePath(name: string): string {
  const path = join(ROOT, name);
  const near = relative(process.cwd(), path);
  return near.startsWith('..') || isAbsolute(near) ? path : near;
}
