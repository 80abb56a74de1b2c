import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config/config.ts';
import type { ProcessActions } from '../http/parts.ts';
import type { TlsContext } from '../http/tls.ts';
import type { StoringWatch } from '../ingest/backpressure.ts';
import type { ControlStore } from '../keys/control-store.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Reserve } from '../lib/reserve.ts';
import { createThrottle, type RunningTask, startTask, type Task } from '../lib/task.ts';
import type { GaugedParts, Metrics } from '../telemetry/metrics.ts';
import type { RunTests } from '../workbench/tests.ts';
import type { Core } from './open-core.ts';
import type { OperatorFiles } from './operator-files.ts';

/** The parts that differ between a real process and a test. */
export interface ServiceOptions {
  readonly logger: FastifyBaseLogger;
  /** Named to other processes that find the store locked, such as `tailrace serve (pid 4711)`. */
  readonly owner: string;
  /** ms since the epoch. */
  readonly now?: () => number;
  readonly random?: () => number;
  /** Tests of an endpoint that the workbench has saved; without it none are run. */
  readonly runTests?: RunTests;
  /** Values for `${NAME}` in the file of the receivers. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Called once the store is open, before anything reads it or evaluates alerts: fills an empty one. */
  readonly prepare?: (core: Core) => Promise<void>;
  /** For `tailrace reload` and `tailrace stop`. */
  readonly actions?: ProcessActions;
  /** The key of the commands on this machine. */
  readonly localKey?: string;
}

/** What every part of a service is created from: `openContext` in service.ts. */
export interface Context extends Pick<GaugedParts, 'readSizes' | 'readFreeBytes' | 'build'> {
  readonly config: Config;
  readonly options: ServiceOptions;
  /** Certificate and key of the settings; `undefined`: the service speaks HTTP without TLS. */
  readonly tls: TlsContext | undefined;
  readonly logger: FastifyBaseLogger;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly random: () => number;
  /** Closes what was opened, in reverse order: when the service closes, or when a later part cannot be opened. */
  readonly opened: AsyncDisposableStack;
  readonly startTask: StartTask;
  readonly files: OperatorFiles;
  readonly core: Core;
  readonly metrics: Metrics;
  readonly reserve: Reserve;
  /** Whether events can be stored. */
  readonly storing: StoringWatch;
  readonly control: ControlStore;
  readonly keyring: Keyring;
  /** Signs tokens, cursors, sign-ins, and what replicas share. */
  readonly secret: Uint8Array;
}

/** Starts a task of the service. It stops before what was opened earlier is closed. */
export type StartTask = (task: Task) => RunningTask;

/** Tasks whose runs are counted, and whose failures are logged: each task at most once a minute. */
export function createStartTask({
  metrics,
  logger,
  now,
  opened,
}: Pick<Context, 'metrics' | 'logger' | 'now' | 'opened'>): StartTask {
  return (task) => {
    metrics.taskFailures.at(task.name); // Prometheus sees only increases of series that it knows
    const throttle = createThrottle(now);
    const running = startTask(task, (error) => {
      metrics.taskFailures.inc(task.name);
      const text = `the task ${task.name} failed; it runs again in ${task.everyMs / 1000} s, or at the next start`;
      throttle(() => logger.error({ err: error, task: task.name }, text));
    });
    opened.defer(running.stop);
    return running;
  };
}
