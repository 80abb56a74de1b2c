import { expect, test } from 'vitest';
import { createFields, listFields, type SearchFields } from '../../src/search/field.ts';
import { createColumn, createSource } from '../support/source.ts';

const ONE = createColumn('route', 'string', ['metadata', 'request', 'path']);
const SEVERAL = { ...ONE, otherPaths: [['metadata', 'req', 'path']] };
const SOURCE = createSource({ columns: [SEVERAL] });

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
  const single = { ...SOURCE, columns: [ONE] };
  const fields = createFields(single);
  expect(fields.find(['request', 'path'])).toEqual({ kind: 'text', sql: 'T.`route`' });
  expect(extracted(fields)).toEqual([]);
});
