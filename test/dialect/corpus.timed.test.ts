import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tables } from '../../trial/oracle/bigquery/value.ts';
import { SEED, sample } from '../support/property.ts';
import { expectAnswer, inOrder } from './compare.ts';
import { AUTH } from './corpus/auth.ts';
import { CONSTANT } from './corpus/constant.ts';
import { CONSTRUCT } from './corpus/construct.ts';
import { EDGE } from './corpus/edge.ts';
import { EDGE_CHART } from './corpus/edge-chart.ts';
import { FUNCTION } from './corpus/function.ts';
import { POSTGRES } from './corpus/postgres.ts';
import { type CorpusQuery, NOW } from './corpus/rows.ts';
import { SERVICE } from './corpus/service.ts';
import { hostileTables } from './generate/event.ts';
import { sampleTables } from './sample.ts';
import { openStudio } from './studio.ts';

const CORPUS: readonly CorpusQuery[] = [
  ...EDGE,
  ...EDGE_CHART,
  ...POSTGRES,
  ...FUNCTION,
  ...AUTH,
  ...SERVICE,
  ...CONSTANT,
  ...CONSTRUCT,
];

const now = Date.parse(NOW);
const studio = await openStudio(now);
afterAll(studio.close);

const logs = sampleTables(studio.sources, now * 1000);
const hostile: Tables = hostileTables(SEED, 150);

beforeAll(async () => {
  await studio.add(logs.project, logs.tables);
  await studio.add('hostile', hostile);
});

test('there are at least 120 queries', () => {
  expect(new Set(CORPUS.map(({ sql }) => sql)).size).toBeGreaterThanOrEqual(120);
});

describe.for([
  ['the sample', logs.project, logs.tables],
  ['hostile events', 'hostile', hostile],
] as const)('over %s', ([, project, tables]) => {
  test.for(
    sample(CORPUS).map((query, i) => [i, query.sql.replaceAll(/\s+/g, ' ').slice(0, 90), query] as const),
  )('%i: %s', async ([, , { sql, expected, by = [], limit }]) => {
    const { rows, error } = await studio.ask(sql, project);
    expect(error, sql).toBeUndefined();
    expectAnswer(rows, inOrder(expected(tables), by, limit), `seed ${SEED}\n${sql}`);
  });
});
