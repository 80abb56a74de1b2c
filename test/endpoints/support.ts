import { expect } from 'vitest';
import type { Endpoint } from '../../src/definitions/endpoint.ts';
import { parsePinnedParameters } from '../../src/query/pins.ts';
import { createQuestion } from '../../src/query/question.ts';
import { createRunner } from '../../src/query/run.ts';
import { type ownService, PRIVATE_KEY } from '../support/service.ts';

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

/** The rows of an endpoint, past the cache and HTTP. @param raw parameters as callers send them */
export async function compute(
  { core, clock }: Awaited<ReturnType<typeof ownService>>,
  endpoint: Endpoint,
  raw: Readonly<Record<string, string | undefined>>,
  pins: Readonly<Record<string, string>> = {},
): Promise<Row[]> {
  const question = createQuestion(endpoint, parsePinnedParameters(endpoint, raw, { pins }));
  return parseRows((await createRunner(core.engine, () => clock.now)(question)).body.toString());
}

/** The rows of an answer that is exactly `{"result":[…]}`. */
export function parseRows(text: string): Row[] {
  expect(text).toMatch(/^\{"result":\[(\{.*\})?\]\}$/s);
  const body = JSON.parse(text) as { result: Row[] };
  expect(Object.keys(body)).toEqual(['result']);
  return body.result;
}
