import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import { FORMATS, JSON_FORMAT, NDJSON_FORMAT } from '../../src/query/format.ts';
import { createNewestFirst } from '../../src/query/newest-first.ts';
import { at } from '../../src/query/page.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { createQuestion, type Question } from '../../src/query/question.ts';
import { createRunner, type Run } from '../../src/query/run.ts';
import { runs } from '../support/property.ts';
import { storeEvents } from '../support/service.ts';
import { newProject, shareService } from '../support/shared-service.ts';

const SOURCE = 'cloudflare.logs.prod';
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const PAGES_MAX = 3;

const { core } = await shareService();
const clock = { now: Date.UTC(2026, 10, 22, 12) };
const endpoint = core.registry.getEndpoint('logs.all');
const runAll = createRunner(core.engine, () => clock.now);
const late = () => new TailraceError('query_timeout', 'late');
const createRun = (run: Run) => createNewestFirst(run, { now: () => clock.now, timeoutMs: 600_000, late });

/** A run of its own, and how many queries a call of it takes. */
function createCounted() {
  let queries = 0;
  const run = createRun((question, options) => {
    queries++;
    return runAll(question, options);
  });
  return async (question: Question) => {
    queries = 0;
    const answer = await run(question);
    return { ...answer, queries };
  };
}

function ask(parameters: Readonly<Record<string, string>>, format = JSON_FORMAT) {
  return createQuestion(endpoint, parseParameters(endpoint, parameters, 1024), format);
}

/** Stores events of a new project, at these ages in ms. */
async function storeAges(ages: readonly number[]): Promise<string> {
  const project = newProject();
  const events = ages.map((age, i) => ({
    id: `${i}`,
    timestamp: new Date(clock.now - age).toISOString(),
    project,
  }));
  if (events.length > 0) await storeEvents(core, SOURCE, events, clock.now);
  return project;
}

/** Evenly over a time that ends some ms before now. */
const spread = (count: number, fromMs: number, lengthMs: number) =>
  Array.from({ length: count }, (_, i) => fromMs + Math.floor((i * lengthMs) / count));

const stretchMs = fc.constantFrom(1, 1_000, MINUTE_MS, 60 * MINUTE_MS, 6 * 60 * MINUTE_MS, 2 * DAY_MS);
const burst = fc
  .tuple(fc.integer({ min: 0, max: 160 }), fc.integer({ min: -30 * MINUTE_MS, max: 4 * DAY_MS }), stretchMs)
  .map(([count, from, length]) => spread(count, from, length));
const ages = fc.array(burst, { maxLength: 3 }).map((bursts) => bursts.flat());
const bound = fc.option(fc.integer({ min: -60 * MINUTE_MS, max: 5 * DAY_MS }), { nil: undefined });
const asked = fc.record({
  tier: fc.constantFrom('FREE', 'PRO', 'PAYG', 'junk'),
  after: bound,
  until: bound,
  format: fc.constantFrom(...FORMATS.filter(({ lines }) => lines === undefined)),
});
const isoOf = (age: number | undefined) => (age === undefined ? '' : new Date(clock.now - age).toISOString());

describe('the newest rows', () => {
  test('are those of the whole question for any events, bounds and pages, whatever was learnt before', async () => {
    const run = createCounted();
    const situation = fc.tuple(ages, fc.array(asked, { minLength: 2, maxLength: 4 }));
    const property = fc.asyncProperty(situation, async ([all, questions]) => {
      const project = await storeAges(all);
      for (const { tier, after, until, format } of questions) {
        const bounds = { iso_timestamp_start: isoOf(after), iso_timestamp_end: isoOf(until) };
        const parameters = { project, project_tier: tier, ...bounds };
        const first = ask(parameters, format);
        expect((await run(first)).body.equals((await runAll(first)).body), format.name).toBe(true);
        let question = ask(parameters, NDJSON_FORMAT);
        for (let pages = 0; pages < PAGES_MAX; pages++) {
          const page = await run(question);
          expect(page.queries).toBeLessThanOrEqual(2);
          expect(page.body.toString()).toBe((await runAll(question)).body.toString());
          expect((await run(question)).queries, 'of the same question again').toBe(1);
          if (page.last === undefined) break;
          question = at(ask(parameters, NDJSON_FORMAT), page.last);
        }
      }
    });
    await fc.assert(property, runs(10));
  });

  test.each([
    ['a busy project', spread(300, 0, 50 * MINUTE_MS), 1],
    ['a project whose page takes days', spread(150, 0, 5 * DAY_MS), 2],
    ['an empty project', [], 2],
    ['a project whose rows all lie ahead of the clock', spread(120, -50 * MINUTE_MS, MINUTE_MS), 1],
  ])('of %s take at most two queries, and one as soon as it is known', async (_, all, first) => {
    const run = createCounted();
    const project = await storeAges(all);
    const question = ask({ project, project_tier: 'PRO' });
    expect((await run(question)).queries).toBe(first);
    const later = await run(question);
    expect(later.queries).toBe(1);
    expect(later.body.equals((await runAll(question)).body)).toBe(true);
    clock.now += MINUTE_MS;
    expect((await run(question)).queries, 'a minute later').toBe(1);
  });
});
