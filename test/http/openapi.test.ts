import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/errors.ts';
import { FORMAT_NAMES } from '../support/formats.ts';
import { expectError, get, QUERY_PATH, read } from '../support/http.ts';
import { newProject, PUBLIC_KEY, shareService, storeEvents } from '../support/service.ts';

const OPENAPI_PATH = '/openapi.json';
const service = await shareService();
const { url, clock, core, newKey } = service;

interface Responses {
  readonly [status: string]: { content?: { 'application/json': { schema: object } } };
}
interface Operation {
  readonly description?: string;
  readonly parameters?: readonly Record<string, unknown>[];
  readonly responses: Responses;
}
interface Document {
  readonly openapi: string;
  readonly servers: readonly { url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Responses; readonly schemas: object };
}

const documentOf = (key?: string) => read<Document>(url, OPENAPI_PATH, key);
const document = await documentOf();
const operationAt = (path: string) => document.paths[path]?.['get'];
const endpointsOf = ({ paths }: Document) =>
  Object.keys(paths).filter((path) => path.startsWith(`${QUERY_PATH}/`));

/** Asserts that the document's schema of a response allows a value. */
function expectValid(responses: Responses | undefined, status: string, value: unknown): void {
  const schema = responses?.[status]?.content?.['application/json'].schema;
  expect(schema).toBeDefined();
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const check = ajv.compile({ ...schema, components: document.components });
  check(value);
  expect(check.errors ?? []).toEqual([]);
}

test('the document is valid by a standard validator, and has every error code', async () => {
  const result = await new Validator().validate({ ...document });
  expect([result.errors ?? [], result.valid]).toEqual([[], true]);
  expect(document.openapi).toMatch(/^3\.1\./);
  const text = JSON.stringify(document.components.responses);
  for (const code of Object.keys(ERROR_CODES)) expect(text).toContain(`\`${code}\``);
});

test('the document has each endpoint under one path, with its parameters, enums, defaults and examples', () => {
  expect(endpointsOf(document)).toHaveLength(core.registry.endpoints.length);
  for (const { id, name } of core.registry.endpoints)
    expect(operationAt(`${QUERY_PATH}/${name}`)?.description).toContain(`${QUERY_PATH}/${id}`);
  expect(operationAt(`${QUERY_PATH}/usage.api-counts`)?.parameters).toMatchObject([
    { name: 'project', in: 'query', required: true, example: 'aurora' },
    { name: 'interval', required: true, schema: { enum: ['hourly', 'minutely', 'daily'] } },
    { name: 'format', required: false, schema: { enum: FORMAT_NAMES } },
  ]);
  // Any other value is allowed: it behaves as 1day.
  const interval = operationAt(`${QUERY_PATH}/functions.invocation-stats`)?.parameters?.[2];
  expect(interval).toMatchObject({
    required: false,
    schema: { default: '1day', examples: ['5min', '15min', '1hr', '1day', '7day'] },
  });
  expect(interval).not.toHaveProperty('schema.enum');
});

test('the document describes the responses that endpoints and other routes really give', async () => {
  const timestamp = clock.now - 60_000;
  const project = newProject();
  const request = { path: '/rest/v1', url: `https://${project}.example/rest/v1` };
  const edge = { project, timestamp, event_message: 'GET', metadata: { request } };
  const run = { project_ref: project, execution_time_ms: 12, response: { status_code: 200 } };
  await storeEvents(core, 'cloudflare.logs.prod', [edge], clock.now);
  await storeEvents(core, 'deno-relay-logs', [{ timestamp, metadata: run }], clock.now);
  await newKey({ rate: { perSecond: 1, burst: 2 } });
  for (const name of ['logs.all', 'usage.api-counts', 'functions.invocation-stats']) {
    const { body } = await get(url, `${QUERY_PATH}/${name}?project=${project}&interval=daily`);
    expect(body.result.length).toBeGreaterThan(0);
    expectValid(operationAt(`${QUERY_PATH}/${name}`)?.responses, '200', body);
  }
  for (const name of ['me', 'endpoints', 'sources', 'projects', 'overview', 'keys'])
    expectValid(operationAt(`/api/${name}`)?.responses, '200', await read(url, `/api/${name}`));
  const { body } = await get(url, `${QUERY_PATH}/logs.all`);
  expectValid(document.components.responses, 'Error400', body);
});

test('a key sees the endpoints that it may read; without one, none is named', async () => {
  const without = await documentOf('');
  expect(JSON.stringify(without)).not.toMatch(/logs\.all|api-counts|invocation/);
  const limited = await documentOf(await newKey({ endpoints: ['logs.all'] }));
  expect(endpointsOf(limited)).toEqual([`${QUERY_PATH}/logs.all`]);
  expect(endpointsOf(await documentOf(PUBLIC_KEY))).toEqual([]);
  expectError(await get(url, OPENAPI_PATH, { 'x-api-key': 'wrong' }), 'unauthorized');
});

test.each(['gzip', 'identity'])('is sent as %s if the caller accepts that', async (encoding) => {
  const { headers, text } = await get(url, OPENAPI_PATH, { 'accept-encoding': encoding });
  expect(headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
  const sent = Number(headers.get('content-length'));
  expect(sent).toBe(encoding === 'identity' ? Buffer.byteLength(text) : Math.min(sent, text.length / 5));
});
