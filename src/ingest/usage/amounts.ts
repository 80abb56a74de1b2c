import type { Event } from '../event.ts';
import { RefusedEvent } from '../read-event.ts';
import type { Amount, SpentProjects } from './quota.ts';

/** An event of a project that has spent its quota of the day. */
export class OverQuota extends RefusedEvent {
  constructor(project: string, { until }: SpentProjects) {
    super(
      `belongs to ${nameProject(project)}, which has spent its quota of the day; more are accepted from ${until}`,
    );
  }
}

// Characters of a project's name in a message.
const NAMED_CHARS_MAX = 100;
export const nameProject = (project: string) =>
  project === '' ? 'no project' : `the project ${JSON.stringify(project.slice(0, NAMED_CHARS_MAX))}`;

/** Adds up the events of a request by project. */
export function createAmounts() {
  const projects = new Map<string, { events: number; bytes: number }>();
  let last = '';
  let amount: { events: number; bytes: number } | undefined;
  return {
    projects: projects as ReadonlyMap<string, Amount>,
    add({ project, message, metadata, attributes }: Event): void {
      if (amount === undefined || project !== last) {
        amount = projects.get(project) ?? { events: 0, bytes: 0 };
        projects.set(project, amount);
        last = project;
      }
      amount.events++;
      amount.bytes +=
        Buffer.byteLength(message) + Buffer.byteLength(metadata) + Buffer.byteLength(attributes);
    },
  };
}
