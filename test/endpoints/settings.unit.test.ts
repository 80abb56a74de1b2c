import { expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';

// Spec 2.1: max rows, caching and warming in seconds, sandboxing.
test.for([
  ['functions.invocation-stats', 1000, 900, 300, false],
  ['logs.all', 1000, undefined, undefined, false],
  ['usage.api-counts', 1000, 900, 300, false],
] as const)('%s has the settings of the specification', async ([name, ...settings]) => {
  const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
  const one = definitions.endpoints.find((endpoint) => endpoint.name === name);
  expect([one?.maxRows, one?.cachingSeconds, one?.warmingSeconds, one?.sandboxing]).toEqual(settings);
});
