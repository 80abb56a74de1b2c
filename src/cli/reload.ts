import { once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config/config.ts';
import {
  describeFolders,
  findSearchesDir,
  type NamedFolders,
  OWN_ALERTS_DIR,
  OWN_DASHBOARDS_DIR,
  OWN_FOLDERS,
} from '../definitions/folders.ts';
import { InputError, messageOf } from '../errors.ts';
import type { Core } from '../service/open-core.ts';
import { formatCounted, joinWords } from './format.ts';

interface ReloadOptions {
  readonly logger: FastifyBaseLogger;
  /** Also print each result on standard error. */
  readonly isWatched: boolean;
  /**
   * Called after a reload that was not rejected, with all paths since the last one; the next waits for it. Must not
   * reject.
   */
  readonly onReloaded?: ((paths: ReadonlySet<string>, core: Core) => Promise<void>) | undefined;
}

/** Reloads the definitions on request, one reload at a time. Requests during a reload cause one more after it. */
export function createReloads({ logger, isWatched, onReloaded }: ReloadOptions) {
  const { promise: core, resolve: start } = Promise.withResolvers<Core>();
  let last: Promise<unknown> = core;
  /** The reload that waits for the one that is running; later requests join it. */
  let next: Promise<ReloadResult> | undefined;
  let changed: ReadonlySet<string> = new Set();

  async function run(before: Promise<unknown>): Promise<ReloadResult> {
    await before;
    next = undefined;
    const result = await reload(await core, logger);
    if (isWatched) for (const line of describeResult(result)) process.stderr.write(`tailrace: ${line}\n`);
    return result;
  }

  async function handOn({ faults }: ReloadResult): Promise<void> {
    if (faults.length > 0) return;
    const paths = changed;
    changed = new Set();
    await onReloaded?.(paths, await core);
  }

  return {
    /**
     * Requests a reload: at once, after the one that is running, or as soon as there is a store.
     *
     * @param paths files that have changed, if that is known
     * @returns the result of a reload that started after the request; never rejects
     */
    request(paths: ReadonlySet<string> = new Set()): Promise<ReloadResult> {
      changed = changed.union(paths);
      if (next === undefined) {
        next = run(last);
        last = next.then(handOn);
      }
      return next;
    },
    /** Sets the store to reload. */
    start,
  };
}

/** Never throws: a failed reload keeps the old definitions, and its result has the faults. */
async function reload(core: Core, logger: FastifyBaseLogger) {
  const describe = (faults: readonly string[], isInput: boolean) => ({
    /** The number of definitions that are served after it. */
    endpoints: core.registry.endpoints.length,
    sources: core.registry.sources.length,
    alerts: core.registry.alerts.length,
    /** Why the definitions were rejected, a line each; empty if they were not. */
    faults,
    /** Whether the faults are in the definitions. */
    isInput,
  });
  try {
    await core.reload();
    for (const line of describeFolders(core.folders)) logger.info(line);
    const { faults, isInput, ...counts } = describe([], true);
    logger.info(counts, 'definitions reloaded');
    return { ...counts, faults, isInput };
  } catch (error) {
    const isInput = error instanceof InputError;
    const faults = isInput ? error.faults : [messageOf(error)];
    logger.error(isInput ? { faults } : { err: error }, NOT_RELOADED);
    return describe(faults, isInput);
  }
}

const NOT_RELOADED = 'definitions not reloaded: the old ones are still served';

export type ReloadResult = Awaited<ReturnType<typeof reload>>;

/** Writes the result as text: the faults, a line each, and in the last line the served definitions. */
export function describeResult({ endpoints, sources, alerts, faults }: ReloadResult): string[] {
  if (faults.length > 0) return [...faults, NOT_RELOADED];
  const counts = [formatCounted(endpoints, 'endpoint'), formatCounted(sources, 'source')];
  if (alerts > 0) counts.push(formatCounted(alerts, 'alert'));
  return [`definitions reloaded: ${joinWords(counts)} served`];
}

// Editors write a file in several steps, and git writes many files; one reload after the last step is enough.
const SETTLE_MS = 200;

/**
 * Calls back after files of the definitions, or those of receivers and quotas, have changed, in place or by a rename,
 * as `sed -i`, git and many editors do it. Watched folders may be removed and created again.
 *
 * @param named the folders and files of the settings
 * @param onChange called with the paths that have changed since the last call
 * @returns when the watch is active; the function ends it
 */
export async function watchDefinitions(
  named: NamedFolders & Pick<Config, 'receiversFile' | 'quotasFile'>,
  onChange: (paths: ReadonlySet<string>) => void,
): Promise<() => Promise<void>> {
  let timer: NodeJS.Timeout | undefined;
  let changed = new Set<string>();
  const report = () => {
    const paths = changed;
    changed = new Set();
    onChange(paths);
  };
  const onEvent = (path?: string) => {
    if (path !== undefined) changed.add(path);
    clearTimeout(timer);
    timer = setTimeout(report, SETTLE_MS);
  };
  const watched = [
    named.endpointsDir || OWN_FOLDERS.endpointsDir,
    named.sourcesDir || OWN_FOLDERS.sourcesDir,
    named.alertsDir || OWN_ALERTS_DIR,
    named.dashboardsDir || OWN_DASHBOARDS_DIR,
    findSearchesDir({ endpointsDir: named.endpointsDir || OWN_FOLDERS.endpointsDir, shipped: [] }),
    ...[named.receiversFile, named.quotasFile].filter((file) => file !== ''),
  ];
  const { watch } = await import('chokidar'); // loaded only if it is used
  const watcher = watch(watched, { ignoreInitial: true });
  // A file that cannot be watched counts as changed. Without a listener the error would end the service.
  watcher.on('all', (_, path) => onEvent(path)).on('error', () => onEvent());
  await once(watcher, 'ready');
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}
