import { once } from 'node:events';
import { watch } from 'chokidar';
import { type DefinitionFolders, OWN_FOLDERS } from '../definitions/folders.ts';

// Editors write a file in several steps, and git a folder in many; one reload after the last of them is enough.
const SETTLE_MS = 200;

/**
 * Calls back after files of the definitions have changed, however they were written: in place, or by a rename, as `sed -i`, git and many
 * editors do. Folders may come and go, also those that are watched.
 *
 * @param named the folders of the settings
 * @returns as soon as no change is missed any more; the function ends it
 */
export async function watchDefinitions(
  named: DefinitionFolders,
  onChange: () => void,
): Promise<() => Promise<void>> {
  let timer: NodeJS.Timeout | undefined;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLE_MS);
  };
  const folders = [
    named.endpointsDir || OWN_FOLDERS.endpointsDir,
    named.sourcesDir || OWN_FOLDERS.sourcesDir,
  ];
  const watcher = watch(folders, { ignoreInitial: true });
  watcher.on('all', changed);
  // What it cannot watch has changed, to say the least; without a listener the error would end the service.
  watcher.on('error', changed);
  await once(watcher, 'ready');
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}
