import { describe, expect, test } from 'vitest';
import { createRegistry } from '../../src/definitions/registry.ts';
import { type Deletion, describeDeletion, toCondition } from '../../src/maintenance/deletions.ts';
import { createKeepProjects } from '../../src/maintenance/retention.ts';
import { parseDeletion } from '../../src/management/deletions.ts';
import { createSource } from '../support/source.ts';

const OWN = createSource({ name: 'own.logs', table: 'own' });
const external = { database: undefined, table: 'otel', line: 1, common: [], typed: [] };
const id = (last: string) => OWN.id.replace(/.$/, last);
const FOREIGN = createSource({ id: id('2'), name: 'foreign.logs', table: 'foreign', external });
const PROTECTED = createSource({ id: id('3'), name: 'trail', table: 'trail', isProtected: true });
const registry = createRegistry({
  ...{ endpoints: [], alerts: [], dashboards: [], searches: [] },
  sources: [OWN, FOREIGN, PROTECTED],
});

const parse = (request: Parameters<typeof parseDeletion>[1]) => parseDeletion(registry, request);

describe('what is to be deleted', () => {
  test('is held to sources that store events', () => {
    expect(parse({ project: 'p' }).sources).toEqual([OWN]);
    expect(parse({ project: 'p', source: OWN.id }).sources).toEqual([OWN]);
    expect(() => parse({ project: 'p', source: 'foreign.logs' })).toThrow(
      /foreign\.logs reads an existing table \(managed: false\)/,
    );
  });

  test('leaves out protected sources, and rejects them by name', () => {
    expect(parse({ project: '' })).toMatchObject({ sources: [OWN], leftOut: [PROTECTED] });
    expect(parse({ project: '', source: OWN.name })).toMatchObject({ sources: [OWN], leftOut: [] });
    expect(() => parse({ project: '', source: 'trail' })).toThrow(/trail is protected \(protected: true\)/);
  });

  test('is a condition in which a value is only ever a value', () => {
    const deletion = parse({ project: "a' OR 1=1 --\\", before: '2026-11-20T07:00:00.123456+01:00' });
    expect(toCondition(deletion).text).toBe(
      "project = 'a\\' OR 1=1 --\\\\' AND timestamp < toDateTime64('2026-11-20 06:00:00.123456', 6, 'UTC')",
    );
    expect(toCondition(parse({ project: '' })).text).toBe("project = ''");
    expect(describeDeletion(deletion)).toBe(
      'events of project "a\' OR 1=1 --\\\\" in all sources, before 2026-11-20T06:00:00.123456Z',
    );
    const ofOne = parse({ project: 'p', source: OWN.name }); // the only source that has events to delete
    expect(describeDeletion(ofOne)).toBe('events of project "p" in own.logs');
  });
});

test('the retention of a project deletes whole days from the sources that events are sent to, by the certain time', async () => {
  const started: Deletion[] = [];
  const none = { progress: undefined, error: undefined };
  const job = { id: '', acceptedMs: 0, counted: [], state: 'done', ...none } as const;
  const internal = { ...OWN, name: 'internal', isInternal: true };
  await createKeepProjects({
    engine: { inspect: async () => [{ project: 'short' } as never] },
    sources: () => [internal, OWN, FOREIGN, PROTECTED],
    days: () => new Map([['short', 7]]),
    certainMs: () => Date.UTC(2026, 10, 20, 7),
    deletions: {
      async start(deletion) {
        started.push(deletion);
        return { ...job, deletion, done: Promise.resolve() };
      },
    },
  })();
  const before = Date.UTC(2026, 10, 13) * 1_000;
  const deletion = { project: 'short', sources: [OWN], isOfAll: false, leftOut: [], before };
  expect(started).toEqual([deletion]);
});
