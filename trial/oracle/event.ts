/** An event as a client sends it, with its time as a count of microseconds. Any other member may hold anything. */
export interface WireEvent {
  readonly id: string;
  readonly timestamp: number;
  readonly [member: string]: unknown;
}

export const MICROS_PER_SECOND = 1_000_000;
export const MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND;

/** The value found by walking objects from the event down; `undefined` where the way ends. */
export function memberAt(event: unknown, path: string): unknown {
  let value = event;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = Object.entries(value).find(([key]) => key === name)?.[1];
  }
  return value;
}

/** The text at a place; `undefined` for anything that is not a text. */
export function textAt(event: unknown, path: string): string | undefined {
  const value = memberAt(event, path);
  return typeof value === 'string' ? value : undefined;
}

const PLACES = ['project', 'metadata.project_ref', 'metadata.project'];

/** The place where each source's events name their project (design: "Project of an event"). */
export const PROJECT_PLACE: Readonly<Record<string, string>> = {
  'cloudflare.logs.prod': 'project',
  'postgres.logs': 'project',
  'deno-relay-logs': 'metadata.project_ref',
  'deno-subhosting-events': 'metadata.project_ref',
  'gotrue.logs.prod': 'project',
  'realtime.logs.prod': 'metadata.project',
  'storage.logs.prod.2': 'metadata.project',
  'postgREST.logs.prod': 'project',
  'pgbouncer.logs.prod': 'project',
};

/** Whose an event is: its source's own place first, then the other places. A place that holds no text is absent. */
export function projectOf(event: WireEvent, source: string): string | undefined {
  const places = [PROJECT_PLACE[source] ?? '', ...PLACES];
  return places.map((place) => textAt(event, place)).find((project) => project);
}
