import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Engine, QueryOptions } from '../../src/engine/engine.ts';
import { isKept } from '../../src/engine/table.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { bindPosition } from '../../src/query/position.ts';
import { createQuestion, type Question } from '../../src/query/question.ts';
import { createRunner } from '../../src/query/run.ts';
import { createSearch, SEARCH } from '../../src/search/search.ts';
import { openTestStore, storeEvents } from '../support/service.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 22, 12);
const { core, close } = await openTestStore();
afterAll(close);
const { engine, registry } = core;
const source = registry.getSource('cloudflare.logs.prod');
const days = source.retentionDays;

const asked: QueryOptions[] = [];
const watched: Engine = {
  ...engine,
  query(sql, values, options) {
    asked.push(options);
    return engine.query(sql, values, options);
  },
};
const run = createRunner(
  watched,
  () => NOW_MS,
  () => NOW_MS,
);

beforeAll(async () => {
  for (const age of [1, days - 1, days + 1]) {
    const storedMs = NOW_MS - age * DAY_MS;
    const event = { id: `${age}`, timestamp: new Date(storedMs).toISOString(), project: 'p' };
    await storeEvents(core, source.name, [event], storedMs);
  }
  await engine.setReadFilters(new Map([[source.table, isKept(source, NOW_MS)]]));
});

const at = (age: number) => new Date(NOW_MS - age * DAY_MS).toISOString();

function logs(from: string): Question {
  const endpoint = registry.getEndpoint('logs.all');
  const given = { project: 'p', project_tier: 'ENTERPRISE', iso_timestamp_start: from };
  return createQuestion(endpoint, parseParameters(endpoint, given, 1_000));
}

function search(from: string): Question {
  const checked = parseParameters(SEARCH, { project: 'p', from, until: at(0) }, 1_000);
  const limits = { searchClausesMax: 10 };
  const { endpoint, values } = createSearch(checked, { sources: [source], nowMs: NOW_MS, limits });
  return createQuestion(endpoint, { ...values, ...bindPosition(endpoint.pages) });
}

async function ask(question: Question, fromAge?: number) {
  asked.splice(0);
  const range = fromAge && { from: (NOW_MS - fromAge * DAY_MS) * 1_000, until: NOW_MS * 1_000 };
  const { body } = await run(question, range ? { part: { range, instantMs: NOW_MS } } : {});
  const { result } = JSON.parse(body.toString()) as { result: { id: string }[] };
  return { ids: result.map(({ id }) => id), skips: asked.map(({ skipsReadFilters }) => skipsReadFilters) };
}

test.each([
  ['the log of a project', logs],
  ['a search', search],
])('the filter of retention is left out of %s if its page cannot reach hidden events', async (_, write) => {
  expect(await ask(write(at(2)))).toEqual({ ids: ['1'], skips: [true] });
  expect(await ask(write(at(days)))).toEqual({ ids: ['1', `${days - 1}`], skips: [false] });
  expect(await ask(write(at(days + 9)))).toEqual({ ids: ['1', `${days - 1}`], skips: [false] });
  expect(await ask(write(at(days + 9)), 2)).toEqual({ ids: ['1'], skips: [true] });
});

test('it stays if the time by which events are hidden is not known', async () => {
  const unknown = createRunner(watched, () => NOW_MS);
  asked.splice(0);
  await unknown(search(at(2)));
  expect(asked.map(({ skipsReadFilters }) => skipsReadFilters)).toEqual([false]);
});
