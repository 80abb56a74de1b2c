import { describe, expect, test } from 'vitest';
import { listGroups, type OpenApi, type Schema, sketch } from '../../console/src/page/reference/openapi.ts';

const operation = (operationId: string, tag: string) => ({
  ...{ operationId, summary: '', description: 'It does.', tags: [tag] },
  responses: {},
});
const ID = { name: 'id', in: 'path', schema: {} } as const;
const document: OpenApi = {
  tags: ['endpoints', 'events', 'none'].map((name) => ({ name, description: '' })),
  paths: {
    '/api/endpoints/query/a': {
      get: operation('get_a', 'endpoints'),
      post: operation('post_a', 'endpoints'),
    },
    '/api/logs': { post: operation('send', 'events') },
    '/logs/json': { post: operation('send_json', 'events') },
    '/api/events/{id}': { parameters: [ID], delete: operation('delete_event', 'events') },
  },
  components: { schemas: {}, responses: {} },
};

describe('the reference', () => {
  test('lists each endpoint and each way of sending events once, by tag', () => {
    const groups = listGroups(document).map(({ name, operations }) => [name, operations] as const);
    const listed = groups.map(([name, all]) => [name, all.map(({ operationId }) => operationId).join(' ')]);
    expect(Object.fromEntries(listed)).toEqual({ endpoints: 'get_a', events: 'send delete_event' });
  });

  test.each<[Schema, string]>([
    [{}, 'any'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ enum: ['a', 1] }, '"a" | 1'],
    [
      { anyOf: [{ type: 'array', items: { $ref: '#/components/schemas/N' } }, { type: 'null' }] },
      '[number] | null',
    ],
    [{ type: 'object', patternProperties: { '^.*$': { type: 'string' } } }, '{ [name]: string }'],
    [
      {
        required: ['a'],
        properties: {
          a: { type: 'string', description: 'An A.' },
          b: { description: 'A B.', properties: { c: { const: true } } },
        },
      },
      '{\n  "a": string  // An A.\n  // A B.\n  "b"?: {\n    "c"?: true\n  }\n}',
    ],
  ])('writes the schema %j', (schema, text) => {
    expect(sketch(schema, { N: { type: 'number' } })).toBe(text);
  });

  test('ends within schemas that contain themselves', () => {
    const schemas = { A: { properties: { a: { $ref: 'A' } } } };
    expect(sketch({ $ref: 'A' }, schemas)).toContain('…');
  });
});
