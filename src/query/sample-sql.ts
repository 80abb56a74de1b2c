import type { Endpoint } from '../definitions/endpoint.ts';
import { PINNED_PREFIX } from '../definitions/parameter.ts';
import { createRewriter } from '../sql/parameter.ts';
import { type Values, writeValue } from '../sql/quote.ts';
import { serviceValues } from './page-range.ts';
import { bindPosition } from './position.ts';
import { writeTypes } from './statement.ts';

/** Returns the stored query with a sample value for each parameter. */
export function createSampleSql(endpoint: Endpoint, values = sampleValues(endpoint)): string {
  return createRewriter(writeTypes(endpoint))((name) => writeValue(values[name] ?? ''));
}

const SAMPLE_MS = Date.UTC(2026, 0, 1);

/** Returns a value that its declaration allows for each parameter. */
export function sampleValues(endpoint: Endpoint): Values {
  const values: Record<string, string> = Object.fromEntries(
    endpoint.parameters.map(({ name, sample }) => [name, sample]),
  );
  for (const name of endpoint.pinned) values[PINNED_PREFIX + name] = values[name] ?? '';
  return {
    ...values,
    ...endpoint.bound,
    ...bindPosition(endpoint.pages),
    ...serviceValues(endpoint, values, { instantMs: SAMPLE_MS }),
  };
}
