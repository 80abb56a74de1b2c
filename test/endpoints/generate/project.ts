import fc from 'fast-check';
import type { WireEvent } from '../../../trial/oracle/event.ts';

/** The project that is asked for in a case before `renameProjects` gives the case names of its own. */
export const MINE = 'acme';

/** Mostly ours, else one whose name holds ours, is held by ours, or differs by letter case. */
const project = fc.oneof(
  { weight: 6, arbitrary: fc.constant(MINE) },
  { weight: 4, arbitrary: fc.constantFrom('acme-eu', 'my-acme', 'acm', 'ACME', 'acme ', 'other') },
);
const noProject = fc.constantFrom('', null, 7, false, [MINE], { ref: MINE });

/** What stands in one of the places where an event may name its project. */
export const projectValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: project },
  { weight: 1, arbitrary: noProject },
);

/** The same events with project names that no other case uses, so that cases can share a store. */
export function renameProjects(events: readonly WireEvent[], unique: number): WireEvent[] {
  return JSON.parse(rename(JSON.stringify(events), unique)) as WireEvent[]; // was an array of events before
}

export function rename(text: string, unique: number): string {
  return text.replaceAll('acme', `acme${unique}z`).replaceAll('ACME', `ACME${unique}Z`);
}
