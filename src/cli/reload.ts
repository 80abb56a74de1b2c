import type { FastifyBaseLogger } from 'fastify';
import { describeShipped } from '../definitions/folders.ts';
import { InputError, messageOf } from '../errors.ts';
import type { Store } from '../open-store.ts';
import { describeResult, type ReloadResult, writeResult } from './reload-result.ts';

export interface Reloads {
  /** Asks for a reload: at once, after the one that runs, or as soon as there is a store. */
  request(): void;
  /** From now on reloads are those of this store. */
  start(store: Store): void;
}

interface ReloadOptions {
  readonly logger: FastifyBaseLogger;
  /** Where the last result is written for `tailrace reload`; `undefined`: nowhere. */
  readonly dataDir: string | undefined;
  /** Also print each result on standard error as a person reads it. */
  readonly isWatched: boolean;
}

/** Reads the definitions again on request, one reload at a time. Requests during a reload bring one more after it. */
export function createReloads({ logger, dataDir, isWatched }: ReloadOptions): Reloads {
  let store: Store | undefined;
  let running = false;
  let wanted = false;

  async function reloadAll(from: Store): Promise<void> {
    running = true;
    while (wanted) {
      wanted = false;
      const result = await reload(from, logger);
      if (isWatched)
        process.stderr.write(
          describeResult(result)
            .map((line) => `tailrace: ${line}\n`)
            .join(''),
        );
      if (dataDir !== undefined) keep(dataDir, result);
    }
    running = false;
  }

  function keep(dir: string, result: ReloadResult): void {
    try {
      writeResult(dir, result);
    } catch (error) {
      logger.warn({ err: error }, 'the result of the reload could not be written for tailrace reload');
    }
  }

  function run(): void {
    if (wanted && !running && store !== undefined) void reloadAll(store);
  }

  return {
    request() {
      wanted = true;
      run();
    },
    start(ready) {
      store = ready;
      run();
    },
  };
}

/** Never throws: a refused reload leaves the old definitions, and says why. */
async function reload(store: Store, logger: FastifyBaseLogger): Promise<ReloadResult> {
  const startedMs = Date.now();
  const { registry } = store;
  const counts = () => ({ endpoints: registry.endpoints.length, sources: registry.sources.length });
  try {
    await store.reload();
    for (const line of describeShipped(store.folders)) logger.info(line);
    logger.info(counts(), 'definitions reloaded');
    return { startedMs, ...counts(), faults: [], isInput: true };
  } catch (error) {
    const isInput = error instanceof InputError;
    const faults = isInput ? error.faults : [messageOf(error)];
    logger.error(
      isInput ? { faults } : { err: error },
      'definitions not reloaded: the old ones go on serving',
    );
    return { startedMs, ...counts(), faults, isInput };
  }
}
