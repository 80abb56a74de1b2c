import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Engine } from '../engine/engine.ts';
import { openEngine } from '../service/open-engine.ts';

/**
 * Opens an empty embedded engine in a temporary folder, even if the settings name a server: it works beside a service, and creates no
 * table on a server.
 *
 * @returns its `close` removes the folder
 */
export async function openTemporaryEngine(config: Config): Promise<Engine> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tailrace-'));
  const remove = () => rm(dataDir, { recursive: true, force: true });
  try {
    const engine = await openEngine({ ...config, dataDir, clickhouseUrl: '' });
    return { ...engine, close: () => engine.close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}
