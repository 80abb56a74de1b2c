import { createThrottle } from '../lib/task.ts';

/** The response header with the number of stored events that belong to no project, if there are any. */
export const WITHOUT_PROJECT_HEADER = 'x-events-without-project';

export interface ProjectWarningOptions {
  /** ms since the epoch. */
  readonly now: () => number;
  /** Called at most once a minute, with the number of events of each source since the last call. */
  readonly warn: (eventsBySource: Readonly<Record<string, number>>) => void;
}

/**
 * Counts stored events that belong to no project, and warns about them: no key that pins a project can read them, and
 * their senders get a success.
 */
export function createProjectWarning({ now, warn }: ProjectWarningOptions) {
  const throttle = createThrottle(now);
  const counts = new Map<string, number>();
  return (source: string, count: number): void => {
    counts.set(source, (counts.get(source) ?? 0) + count);
    throttle(() => {
      warn(Object.fromEntries(counts));
      counts.clear();
    });
  };
}
