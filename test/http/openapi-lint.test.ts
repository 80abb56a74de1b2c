import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { afterAll, describe, expect, test } from 'vitest';
import { get } from '../support/http.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);
const { text } = await get(service.url, '/openapi.json', { 'x-api-key': PRIVATE_KEY });

/** What a linter reports: its rule and the place. */
interface Finding {
  readonly rule: string;
  readonly place: string;
  readonly isError: boolean;
}

/** By the rules that Spectral recommends. */
async function lintBySpectral(document: string): Promise<Finding[]> {
  const linter = new spectral.Spectral();
  linter.setRuleset(new spectral.Ruleset({ extends: [[rulesets.oas, 'recommended']] }));
  const found = await linter.run(document);
  return found.map(({ code, path, severity }) => ({
    rule: String(code),
    place: path.join('/'),
    isError: severity === 0,
  }));
}

/** By the rules that Redocly recommends. */
async function lintByRedocly(document: string): Promise<Finding[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const found = await lintFromString({ source: document, absoluteRef: '/openapi.json', config });
  return found.map(({ ruleId, location, severity }) => ({
    rule: ruleId,
    place: location.map(({ pointer }) => pointer).join(' '),
    isError: severity === 'error',
  }));
}

/** Warnings that stay. */
const ACCEPTED = new Set([
  'info-contact', // a service of yours has no contact of ours
  'oas3-operation-security-defined', // OpenAPI 3.1 allows names of scopes for keys; the rule knows 3.0
  'operation-4xx-response', // /health and /ready refuse nothing
]);

describe.each([
  ['Spectral', lintBySpectral],
  ['Redocly', lintByRedocly],
])('by the rules that %s recommends, /openapi.json', (_name, lint) => {
  test('has no error, and no warning beyond those that are explained here', async () => {
    const found = await lint(text);
    expect(found.filter(({ rule, isError }) => isError || !ACCEPTED.has(rule))).toEqual([]);
  });

  test('has errors if it is spoilt', async () => {
    const document = JSON.parse(text) as { paths: Record<string, Record<string, Record<string, unknown>>> };
    const operation = document.paths['/health']?.['get'];
    if (operation !== undefined) operation['responses'] = { 200: {} };
    const found = await lint(JSON.stringify(document));
    expect(found.filter(({ isError }) => isError)).not.toEqual([]);
  });
});
