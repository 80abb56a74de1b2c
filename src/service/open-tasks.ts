import { startTask } from '../lib/task.ts';
import { createThrottle } from '../lib/throttle.ts';
import type { Parts, StartTask } from './parts.ts';

type TaskParts = Pick<Parts, 'metrics' | 'logger' | 'now' | 'opened'>;

const LOG_AGAIN_MS = 60_000;

/** Tasks whose runs are counted, and whose failures are logged: each task at most once a minute. */
export function createStartTask({ metrics, logger, now, opened }: TaskParts): StartTask {
  return (task) => {
    metrics.taskStarted(task.name);
    const throttle = createThrottle(LOG_AGAIN_MS, now);
    const running = startTask(task, {
      onFailure(error) {
        metrics.taskFailed(task.name);
        const text = `the task ${task.name} failed; it runs again in ${task.everyMs / 1000} s`;
        throttle(() => logger.error({ err: error, task: task.name }, text));
      },
    });
    opened.defer(running.stop);
    return running;
  };
}
