import { type ComponentType, lazy } from 'react';

/** The error of a file of the console that could not be loaded: it is of another version, or the service is unreachable. */
export class MissingPart extends Error {
  override readonly name = 'MissingPart';
}

/** A component whose files are loaded when it is first shown. Its `Boundary` says why if that fails. */
export function lazyPart<Props = object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (cause) {
      throw new MissingPart('a file of the console could not be loaded', { cause });
    }
  });
}

/** `other`: the service has a version of the console that differs from the running one. */
export type ServedVersion = 'same' | 'other' | 'unreachable';

/** Whether the service still has the running console: the names of its files contain hashes of their content. */
export async function findServedVersion(): Promise<ServedVersion> {
  const own = document.querySelector('script[type=module]')?.getAttribute('src') ?? '';
  try {
    const response = await fetch('/', { cache: 'no-store' });
    const page = await response.text();
    // A proxy may have its own page for a service that does not run.
    if (!response.ok || !page.includes('id="root"')) return 'unreachable';
    return page.includes(own) ? 'same' : 'other';
  } catch {
    return 'unreachable';
  }
}
