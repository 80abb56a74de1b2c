import { expect, test } from 'vitest';
import type { Source, SourceColumn } from '../../src/definitions/source.ts';
import { createFields, listFields, type SearchFields } from '../../src/search/field.ts';

const SEVERAL: SourceColumn = {
  name: 'route',
  type: 'string',
  path: ['metadata', 'request', 'path'],
  otherPaths: [['metadata', 'req', 'path']],
  contains: undefined,
  otherwise: undefined,
  hasSubstringIndex: false,
  description: 'Path of the request.',
};

const SOURCE: Source = {
  id: '00000000-0000-4000-8000-000000000000',
  name: 'test.logs',
  table: 'test_logs',
  description: '',
  retentionDays: 30,
  projectPaths: [['project']],
  columns: [SEVERAL],
  rollup: undefined,
  external: undefined,
  file: 'sources/test.logs.yaml',
};

const extracted = (fields: SearchFields) =>
  fields.definitions().filter((one) => one.includes('JSONExtractRaw'));

test('a column of several paths is a field by its own name; each path is read from the JSON', () => {
  const fields = createFields(SOURCE);
  expect(fields.find(['route'])).toEqual({ kind: 'text', sql: 'T.`route`' });
  for (const name of ['request', 'req']) expect(fields.find([name, 'path'])).toMatchObject({ kind: 'json' });
  expect(extracted(fields)).toEqual([
    "if(T.`metadata` = '', JSONExtractRaw(T.`attributes`, 'request', 'path'), JSONExtractRaw(T.`metadata`, 'request', 'path')) AS J0",
    expect.stringContaining("'req', 'path'"),
  ]);
  expect(listFields(SOURCE).map(({ name }) => name)).toContain('route');
  expect(listFields(SOURCE).map(({ name }) => name)).not.toContain('request.path');
});

test('a column of one path is read for that path', () => {
  const single = { ...SOURCE, columns: [{ ...SEVERAL, otherPaths: [] }] };
  const fields = createFields(single);
  expect(fields.find(['request', 'path'])).toEqual({ kind: 'text', sql: 'T.`route`' });
  expect(extracted(fields)).toEqual([]);
});
