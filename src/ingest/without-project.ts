import { createThrottle } from '../lib/throttle.ts';

const SAID_AGAIN_MS = 60_000;

/** Of a response to stored events: how many of them belong to no project, if any. */
export const WITHOUT_PROJECT_HEADER = 'x-events-without-project';

/** Events of a source were stored that belong to no project: no key that pins a project can read them. */
export type OnWithoutProject = (source: string, count: number) => void;

export interface ProjectWarningOptions {
  /** ms since the epoch. */
  readonly now: () => number;
  /** Called at most once a minute, with the events of each source since it was last called. */
  readonly warn: (eventsBySource: Readonly<Record<string, number>>) => void;
}

/** Counts events without a project, and warns of them: their senders were answered success, so nobody else would say it. */
export function createProjectWarning({ now, warn }: ProjectWarningOptions): OnWithoutProject {
  const throttle = createThrottle(SAID_AGAIN_MS, now);
  const counts = new Map<string, number>();
  return (source, count) => {
    counts.set(source, (counts.get(source) ?? 0) + count);
    throttle(() => {
      warn(Object.fromEntries(counts));
      counts.clear();
    });
  };
}
