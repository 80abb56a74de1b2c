import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

const SOURCE = 'cloudflare.logs.prod.yaml';
const ENDPOINT = 'usage.api-counts';

/**
 * Copies the fewest shipped definitions, one source and an endpoint of it, to `sources` and `endpoints` below `folder`. A store
 * creates the tables of all sources and checks all endpoints whenever it opens or reloads, so that fewer save most of that time.
 *
 * @returns settings that name the two folders
 */
export async function copyFewDefinitions(folder: string) {
  const [sources, endpoints] = [join(folder, 'sources'), join(folder, 'endpoints')];
  await mkdir(sources, { recursive: true });
  await cp(join('sources', SOURCE), join(sources, SOURCE));
  await cp(join('endpoints', ENDPOINT), join(endpoints, ENDPOINT), { recursive: true });
  return { TAILRACE_SOURCES_DIR: sources, TAILRACE_ENDPOINTS_DIR: endpoints };
}
