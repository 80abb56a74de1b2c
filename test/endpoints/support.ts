import { expect } from 'vitest';
import { parseEvent } from '../../src/ingest/event.ts';
import { insertEvents } from '../../src/ingest/writer.ts';
import type { Core } from '../../src/service/open-core.ts';
import { PRIVATE_KEY } from '../support/service.ts';

export type Row = Readonly<Record<string, unknown>>;

/** GET of an endpoint; the answer's bytes as text, proven to be rows and nothing else. */
export async function ask(
  url: string,
  endpoint: string,
  parameters: Readonly<Record<string, string | undefined>>,
): Promise<{ text: string; rows: Row[] }> {
  const sent = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const response = await fetch(`${url}/api/endpoints/query/${endpoint}?${new URLSearchParams(sent)}`, {
    headers: { 'x-api-key': PRIVATE_KEY, 'content-type': 'application/json; charset=utf-8' },
  });
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
    await response.arrayBuffer(),
  );
  expect(response.status, text).toBe(200);
  return { text, rows: parseRows(text) };
}

/** The rows of an answer that is exactly `{"result":[…]}`. */
export function parseRows(text: string): Row[] {
  expect(text).toMatch(/^\{"result":\[(\{.*\})?\]\}$/s);
  const body = JSON.parse(text) as { result: Row[] };
  expect(Object.keys(body)).toEqual(['result']);
  return body.result;
}

/** Stores events from their JSON text, as they come in on the wire. `now` in ms. */
export async function storeLines(core: Core, sourceName: string, lines: readonly string[], now: number) {
  const source = core.registry.getSource(sourceName);
  const rules = { now: now * 1000, eventBytesMax: 1024 * 1024, project: '' };
  const parsed = lines.map((text) => parseEvent({ text }, source, rules));
  await insertEvents(core.engine, source, parsed);
}
