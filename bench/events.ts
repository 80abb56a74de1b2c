import { readDefinitions } from '../src/definitions/read.ts';
import type { Source } from '../src/definitions/source.ts';
import { MICROS_PER_MS } from '../src/lib/instant.ts';
import { planSample, sampleEvents } from '../src/sample/fill.ts';
import { NDJSON, type TrialEvent, WIRES } from '../trial/wire.ts';

/** How events are written for each protocol. */
export const ALL_WIRES = { ndjson: NDJSON, ...WIRES };
export type WireName = keyof typeof ALL_WIRES;

/** The source of the load: requests at a gateway, about 1 KB each. */
const SOURCE_NAME = 'cloudflare.logs.prod';

async function readSource(): Promise<Source> {
  const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
  const source = definitions.sources.find((one) => one.name === SOURCE_NAME);
  if (source === undefined) throw new Error(`${SOURCE_NAME} is not defined`);
  return source;
}

/** Realistic events as JSON without newlines, from the second before `nowMs`. */
export async function makeLines(count: number, seed: number, nowMs = Date.now()): Promise<string[]> {
  const source = await readSource();
  const options = { seed, days: 1, projects: 5, end: nowMs * MICROS_PER_MS };
  const [part] = planSample([source], count);
  if (part === undefined) throw new Error('the source cannot be made up');
  return [...sampleEvents(part, options)].map(({ id, project, message, metadata }, i) => {
    const timestamp = new Date(nowMs - (i % 1000)).toISOString();
    return JSON.stringify({ id, timestamp, project, event_message: message, metadata: trim(metadata) });
  });
}

/** Removes the gateway's network fields, so that an event has 1.1 KB instead of 1.5. */
function trim(metadata: string): object {
  const { request, ...rest } = JSON.parse(metadata) as { request: object };
  return { request: { ...request, cf: undefined }, ...rest };
}

/** Bodies of NDJSON with so many lines each. */
export function toBatches(lines: readonly string[], size: number): Buffer[] {
  const batches: Buffer[] = [];
  for (let i = 0; i < lines.length; i += size) {
    batches.push(Buffer.from(`${lines.slice(i, i + size).join('\n')}\n`));
  }
  return batches;
}

/** Events that each protocol can carry as they are: their metadata are texts. */
export function makeTrialEvents(count: number, endMs: number): TrialEvent[] {
  const texts = { level: 'info', service: 'gateway', method: 'GET', region: 'eu-central-1', status: '200' };
  return Array.from({ length: count }, (_, i) => {
    const own = {
      host: `h${i % 7}`,
      path: `/rest/v1/orders/${i}`,
      remote: `10.0.0.${i % 250}`,
      duration: `${i}`,
    };
    const metadata = { ...texts, ...own, user_agent: 'Mozilla/5.0 (X11; Linux x86_64)' };
    const message = `GET /rest/v1/orders?id=eq.${i} 200 "curl/8.0"`;
    return { id: `${i}`, timeMs: endMs - i, project: 'p', message, metadata };
  });
}
