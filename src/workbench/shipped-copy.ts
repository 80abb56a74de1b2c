import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Copies,
  findCopies,
  isShippedDashboards,
  needsCopy,
  type ReadFolders,
} from '../definitions/folders.ts';
import { toSaveError } from './files.ts';
import type { EditDefinitions } from './save.ts';

interface CopyParts {
  readonly edit: EditDefinitions;
  readonly folders: () => ReadFolders;
  /** Called once the copy is served. */
  readonly onCopied: (dir: string) => void;
}

/** Returns an `edit` that copies the shipped definitions first, if they are served, and has the copy served. A new version of Tailrace changes the shipped ones, not the copy. */
export function editCopies({ edit, folders, onCopied }: CopyParts): EditDefinitions {
  return (work) =>
    edit(async (reload) => {
      const read = folders();
      const copies = findCopies(read);
      if (copies !== undefined && needsCopy(read)) {
        await copyShipped(read, copies);
        await reload();
        onCopied(copies.dir);
      }
      return await work(reload);
    });
}

/** The copy appears whole: a crash leaves none, and the next save tries again. */
async function copyShipped({ endpointsDir, dashboardsDir }: ReadFolders, { dir }: Copies): Promise<void> {
  const next = `${dir}.new`;
  try {
    await rm(next, { recursive: true, force: true });
    await mkdir(join(next, 'dashboards'), { recursive: true });
    await cp(endpointsDir, join(next, 'endpoints'), { recursive: true });
    if (dashboardsDir !== undefined && isShippedDashboards(dashboardsDir))
      await cp(dashboardsDir, join(next, 'dashboards'), { recursive: true });
    await rename(next, dir);
  } catch (error) {
    throw toSaveError(error, 'definitions');
  }
}
