import { setTimeout as wait } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { findOwner } from '../engine/store-lock.ts';
import { InputError, StoppedError } from '../errors.ts';
import { createDeadline, untilAborted } from '../lib/abort.ts';
import { type RunningCommand, sendCommand } from '../maintenance/socket/client.ts';
import { isServiceName } from './find-store.ts';

// A reload takes less than a second; during the start it waits until the store is open, which may take longer after an upgrade.
const RESULT_MS_MAX = 60_000;
const POLL_EVERY_MS = 50;

/**
 * Sends a command to the service on the data directory of the settings. While the service starts, waits until it accepts commands.
 *
 * @param path one of `COMMANDS`
 * @returns the result of the command
 * @throws InputError if no service runs there, or it belongs to another user; StoppedError without a result within a minute
 */
export async function callService(config: Config, path: string): Promise<unknown> {
  const { dataDir } = config;
  const late = () =>
    new StoppedError(
      `the service on ${dataDir} has not responded within ${RESULT_MS_MAX / 1000} s; its log says more`,
    );
  const deadline = createDeadline(RESULT_MS_MAX, late);
  let running: RunningCommand | undefined;
  try {
    running = await untilAborted(reachService(config, path, deadline.signal), deadline.signal);
    return await untilAborted(
      running.finish(() => {}),
      deadline.signal,
    );
  } finally {
    deadline.clear();
    running?.hangUp();
  }
}

async function reachService(config: Config, path: string, signal: AbortSignal): Promise<RunningCommand> {
  while (true) {
    const running = await sendCommand(config.dataDir, path, {});
    if (running !== undefined) return running;
    assertServiceStarts(config);
    await wait(POLL_EVERY_MS, undefined, { signal });
  }
}

/** @throws InputError if no service is about to open its socket */
function assertServiceStarts(config: Config): void {
  const absent = findNoService(config);
  if (absent !== undefined) throw new InputError([absent]);
}

/** Finds why there is no service on the data directory of the settings; `undefined`: there may be one. */
export function findNoService({ dataDir, clickhouseUrl }: Config): string | undefined {
  // Several services on a ClickHouse server may share a data directory, so none of them locks it.
  const owner = clickhouseUrl === '' ? findOwner(dataDir) : undefined;
  if (owner === undefined)
    return `no service runs on data directory ${dataDir}; set TAILRACE_DATA_DIR to the service's`;
  if (isServiceName(owner)) return undefined;
  return `data directory ${dataDir} is in use by ${owner}, which is not a service`;
}
