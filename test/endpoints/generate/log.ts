import fc from 'fast-check';
import { formatInstant } from '../../../src/lib/instant.ts';
import type { WireEvent } from '../../../trial/oracle/event.ts';
import { DAYS_90, instantAround } from './instant.ts';
import { projectValue } from './project.ts';

/** A bound of the caller and how it is sent. */
export interface Bound {
  readonly micros: number | undefined;
  readonly text: string | undefined;
}

/** Events of any source with a project in some places, each with an id of its own. */
export function logs(now: number, size: fc.ArrayConstraints): fc.Arbitrary<WireEvent[]> {
  const places = fc.record({ project_ref: projectValue, project: projectValue }, { requiredKeys: [] });
  const event = fc.record(
    {
      id: fc.uuid(),
      timestamp: instantAround(now, [DAYS_90]),
      project: projectValue,
      event_message: fc.constantFrom('GET / 200', '', 'é😀', 'a "quote" \\ \n \u0000'),
      metadata: fc.oneof({ weight: 6, arbitrary: places }, { weight: 1, arbitrary: fc.constant(null) }),
    },
    { requiredKeys: ['id', 'timestamp'] },
  );
  return fc.uniqueArray(event, { selector: ({ id }) => id, size: 'max', ...size });
}

/** A bound on the very instant of an event, beside it, or none. */
export function bound(now: number): fc.Arbitrary<Bound> {
  const some = instantAround(now, [DAYS_90]).map((micros) => ({ micros, text: formatInstant(micros) }));
  const none = fc.constantFrom({ micros: undefined, text: undefined }, { micros: undefined, text: '' });
  return fc.oneof({ weight: 3, arbitrary: some }, { weight: 2, arbitrary: none });
}
