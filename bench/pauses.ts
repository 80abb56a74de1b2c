import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pauses } from './pause-watch.ts';

/** How a server is started so that it writes its pauses to a file. */
export function watchPauses(file: string) {
  return {
    nodeArgs: ['--import', join(import.meta.dirname, 'pause-watch.ts')],
    env: { PAUSES_FILE: file },
  };
}

export function readPauses(file: string): Pauses {
  return JSON.parse(readFileSync(file, 'utf8')) as Pauses; // written by pause-watch.ts alone
}
