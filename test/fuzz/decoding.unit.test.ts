import { expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';
import { DIRECT_DECODERS, fuzzDirectly } from '../../trial/fuzz/decoders/direct.ts';
import { SEED, scale } from '../support/property.ts';

// `npm run bench -- fuzz --only decoding --inputs 100000` tries more.
const INPUTS = scale(3_000);
const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });

test.each(Object.keys(DIRECT_DECODERS))('random bodies of %s become events, or are rejected', (name) => {
  const { whole, partly, refused, failures } = fuzzDirectly(name, {
    ...{ sources: definitions.sources, inputs: INPUTS, seed: SEED },
  });
  expect(failures).toEqual([]);
  expect(whole + partly + refused).toBe(INPUTS);
  // The bodies are near enough to what senders send.
  expect(whole).toBeGreaterThan(0);
});
