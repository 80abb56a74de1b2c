import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/errors.ts';
import { runCli } from '../support/cli.ts';
import { FORMAT_NAMES } from '../support/formats.ts';
import { expectError, get, QUERY_PATH } from '../support/http.ts';
import { PUBLIC_KEY, startTestService, storeEvents } from '../support/service.ts';

const OPENAPI_PATH = '/openapi.json';

const service = await startTestService();
afterAll(service.close);
const { url, clock, core, config } = service;
const { keyring } = service.service;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters?: readonly Record<string, unknown>[];
  readonly responses: Readonly<Record<string, { content?: { 'application/json': { schema: object } } }>>;
}
interface Document {
  readonly openapi: string;
  readonly servers: readonly { url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: object; readonly schemas: object };
}

async function documentOf(key?: string): Promise<Document> {
  const answer = await get(url, OPENAPI_PATH, key === undefined ? {} : { 'x-api-key': key });
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text) as Document;
}

const document = await documentOf();
const METHODS = ['get', 'post', 'patch', 'delete'];
const _operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => METHODS.includes(method))
    .map(([method, operation]) => ({ path, method, operation })),
);
const endpointsOf = ({ paths }: Document) =>
  Object.keys(paths).filter((path) => path.startsWith(`${QUERY_PATH}/`));

/** That a value is one that the document's schema allows. */
function expectValid(schema: object | undefined, value: unknown): void {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const { components } = document;
  const check = ajv.compile({ ...schema, components });
  check(value);
  expect(check.errors ?? []).toEqual([]);
}

describe('the OpenAPI document', () => {
  test('is valid by a standard validator', async () => {
    const result = await new Validator().validate({ ...document });
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  test('has each endpoint under one path, whose description has its UUID', () => {
    expect(endpointsOf(document)).toHaveLength(core.registry.endpoints.length);
    for (const { id, name } of core.registry.endpoints) {
      const { get: one, post } = document.paths[`${QUERY_PATH}/${name}`] ?? {};
      for (const operation of [one, post]) expect(operation?.description).toContain(`${QUERY_PATH}/${id}`);
    }
  });

  test('has the declared parameters of an endpoint, with enums, defaults and examples', () => {
    const { parameters } = document.paths[`${QUERY_PATH}/usage.api-counts`]?.['get'] ?? {};
    expect(parameters).toMatchObject([
      { name: 'project', in: 'query', required: true, example: 'aurora' },
      { name: 'interval', required: true, schema: { enum: ['hourly', 'minutely', 'daily'] } },
      { name: 'format', required: false, schema: { enum: FORMAT_NAMES } },
    ]);
    const stats = document.paths[`${QUERY_PATH}/functions.invocation-stats`]?.['get'];
    // Any other value is allowed: it behaves as 1day.
    expect(stats?.parameters?.[2]).toMatchObject({
      required: false,
      schema: { default: '1day', examples: ['5min', '15min', '1hr', '1day', '7day'] },
    });
    expect(stats?.parameters?.[2]).not.toHaveProperty('schema.enum');
  });

  test('describes every error code under its status', () => {
    const text = JSON.stringify(document.components.responses);
    for (const code of Object.keys(ERROR_CODES)) expect(text).toContain(`\`${code}\``);
  });

  test('describes the answers that the endpoints really give', async () => {
    await storeEvents(core, 'cloudflare.logs.prod', [edgeEvent()], clock.now);
    await storeEvents(core, 'deno-relay-logs', [invocation()], clock.now);
    const queries = {
      'logs.all': 'project=p1',
      'usage.api-counts': 'project=p1&interval=daily',
      'functions.invocation-stats': 'project=p1',
    };
    for (const [name, query] of Object.entries(queries)) {
      const answer = await get(url, `${QUERY_PATH}/${name}?${query}`);
      expect(answer.body.result.length).toBeGreaterThan(0);
      const { responses } = document.paths[`${QUERY_PATH}/${name}`]?.['get'] ?? {};
      expectValid(responses?.['200']?.content?.['application/json'].schema, answer.body);
    }
    const { responses } = document.components as {
      responses: Record<string, Operation['responses'][string]>;
    };
    const refused = await get(url, `${QUERY_PATH}/logs.all`);
    expectValid(responses['Error400']?.content?.['application/json'].schema, refused.body);
  });

  test.each(['/api/self', '/api/endpoints', '/api/sources', '/api/projects', '/api/overview', '/api/keys'])(
    'describes what %s really answers',
    async (path) => {
      await keyring.create({ name: 'k', scopes: ['query'], rate: { perSecond: 1, burst: 2 } });
      const answer = await get(url, path);
      expect(answer.status).toBe(200);
      const schema = document.paths[path]?.['get']?.responses['200']?.content?.['application/json'].schema;
      expectValid(schema, answer.body);
    },
  );
});

describe('who sees what of it', () => {
  test('without a key no endpoint is told, nor a change of them', async () => {
    const without = await documentOf('');
    expect(endpointsOf(without)).toEqual([]);
    expect(JSON.stringify(without)).not.toMatch(/logs\.all|api-counts|invocation/);
  });

  test('a key sees the endpoints that it may read, one that only sends events none', async () => {
    const { key } = await keyring.create({ name: 'k', scopes: ['query'], endpoints: ['logs.all'] });
    expect(endpointsOf(await documentOf(key))).toEqual([`${QUERY_PATH}/logs.all`]);
    expect(endpointsOf(await documentOf(PUBLIC_KEY))).toEqual([]);
  });

  test('a wrong key is refused', async () => {
    expectError(await get(url, OPENAPI_PATH, { 'x-api-key': 'wrong' }), 'unauthorized');
  });
});

test('tailrace openapi prints it with every endpoint, beside a service, and with the address that is given', async () => {
  const env = { TAILRACE_SOURCES_DIR: config.sourcesDir };
  const { code, stdout, stderr } = await runCli(['openapi', '--server', 'https://logs.example.com'], { env });
  expect([code, stderr]).toEqual([0, '']);
  const printed = JSON.parse(stdout) as Document;
  expect(printed.servers).toEqual([{ url: 'https://logs.example.com' }]);
  expect({ ...printed, servers: document.servers }).toEqual(document);
});

function edgeEvent() {
  return {
    project: 'p1',
    timestamp: clock.now - 60_000,
    event_message: 'GET /rest/v1',
    metadata: { request: { path: '/rest/v1', url: 'https://p1.example/rest/v1' } },
  };
}

function invocation() {
  return {
    timestamp: clock.now - 60_000,
    metadata: { project_ref: 'p1', function_id: 'f', execution_time_ms: 12, response: { status_code: 200 } },
  };
}
