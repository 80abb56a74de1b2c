import type { Source } from '../../src/definitions/source.ts';
import { sampleEvents } from '../../src/sample/event.ts';
import { planSample } from '../../src/sample/plan.ts';
import type { Json, Tables } from '../../trial/oracle/bigquery/value.ts';

const OPTIONS = { rows: 1_500, seed: 7, days: 2, projects: 1 };

/** The sample's events of its only project. @param end µs */
export function sampleTables(sources: readonly Source[], end: number): { project: string; tables: Tables } {
  const options = { ...OPTIONS, end };
  let project = '';
  const parts = planSample(sources, options).map((part) => {
    const events = [...sampleEvents(part, options)];
    project = events[0]?.project ?? project;
    const wire = events.map(({ id, timestamp, message, metadata }) => ({
      id,
      timestamp,
      event_message: message,
      metadata: JSON.parse(metadata) as Json, // its metadata is JSON
    }));
    return [part.source.table, wire];
  });
  return { project, tables: Object.fromEntries(parts) };
}
