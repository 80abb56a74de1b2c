import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config/config.ts';
import type { StoringWatch } from '../ingest/storing-watch.ts';
import type { Reserve } from '../lib/reserve.ts';
import type { RunningTask, Task } from '../lib/task.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Core } from './open-core.ts';

/** Starts a task of the service. It stops before what was opened earlier is closed. */
export type StartTask = (task: Task) => RunningTask;

/** The parts that most others work with. */
export interface Parts {
  readonly config: Config;
  readonly core: Core;
  readonly metrics: Metrics;
  readonly storing: StoringWatch;
  readonly reserve: Reserve;
  readonly logger: FastifyBaseLogger;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly random: () => number;
  readonly startTask: StartTask;
  /** Closes what was opened, in reverse order: when the service closes, or when a later part cannot be opened. */
  readonly opened: AsyncDisposableStack;
}
