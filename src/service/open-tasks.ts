import type { FastifyBaseLogger } from 'fastify';
import { type RunningTask, startTask, type Task, type TaskOptions } from '../lib/task.ts';
import { createThrottle } from '../lib/throttle.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Starts a task of the service. It stops before what was opened earlier is closed. */
export type StartTask = (task: Task) => RunningTask;

interface TaskParts {
  readonly metrics: Pick<Metrics, 'taskStarted' | 'taskRan'>;
  readonly logger: FastifyBaseLogger;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly opened: AsyncDisposableStack;
  /** For tests: replaces timers. */
  readonly repeat?: TaskOptions['repeat'];
}

const LOG_AGAIN_MS = 60_000;

/** Tasks whose runs are counted, and whose failures are logged: each task at most once a minute. */
export function createStartTask({ metrics, logger, now, opened, repeat }: TaskParts): StartTask {
  return (task) => {
    metrics.taskStarted(task.name);
    const throttle = createThrottle(LOG_AGAIN_MS, now);
    const running = startTask(task, {
      ...(repeat && { repeat }),
      ticks: () => performance.now(),
      onRun({ name, ms, error }) {
        metrics.taskRan(name, ms / 1000, error !== undefined);
        if (error === undefined) return;
        const text = `the task ${name} failed; it runs again in ${task.everyMs / 1000} s`;
        throttle(() => logger.error({ err: error, task: name }, text));
      },
    });
    opened.defer(running.stop);
    return running;
  };
}
