import { describe, expect, test } from 'vitest';
import type { NewKey } from '../../src/keys/management.ts';
import { EDGE, expectError, get } from '../support/http.ts';
import { ownService, PRIVATE_KEY, storeEvents } from '../support/service.ts';

// What limited credentials see by each part of a search: what one without limits sees of their own events alone.
const nowMs = Date.UTC(2026, 10, 20, 12);
const AUTH = 'gotrue.logs.prod';
const SOURCES = [EDGE, AUTH];
const PROJECTS = ['aurora', 'borealis'];
const service = await ownService({ now: nowMs });
const { core, url, newKey } = service;

/** Messages, names of fields and values tell by whose event they are in. */
const mark = (source: string, project: string) => `${source === EDGE ? 'edge' : 'auth'}_${project}`;
for (const source of SOURCES) {
  const sent = PROJECTS.flatMap((project) =>
    Array.from({ length: 40 }, (_, i) => ({
      id: `${mark(source, project)}_${i}`,
      timestamp: new Date(nowMs - 1_000 - i).toISOString(),
      project,
      event_message: `${mark(source, project)} failed`,
      metadata: {
        outcome: i % 4 === 0 ? 'bad' : 'good',
        region: `${mark(source, project)}_${i % 2}`,
        [`only_${mark(source, project)}`]: i % 3,
      },
    })),
  );
  await storeEvents(core, source, sent, nowMs);
}

const ALL = SOURCES.flatMap((source) => PROJECTS.map((project) => ({ source, project })));
type Sees = Readonly<Partial<Record<'source' | 'project', string>>>;

type Limits = Partial<Pick<NewKey, 'sources' | 'pins'>>;
const { keyring } = service.service;
async function createToken(limits: Limits): Promise<string> {
  const parent = await keyring.authenticate(await newKey());
  const grant = { scopes: ['query'] as const, pins: {}, expiresMs: nowMs + 60_000, ...limits };
  return (await keyring.mint(parent, grant)).token;
}

const ask = (parameters: Readonly<Record<string, string>>, key = PRIVATE_KEY) =>
  get(url, `/api/search?${new URLSearchParams({ limit: '200', ...parameters })}`, { 'x-api-key': key });

const PARTS: readonly Readonly<Record<string, string>>[] = [
  { q: 'failed or not failed or project:borealis' },
  { part: 'values', field: 'region' },
  { part: 'histogram', by: 'region', buckets: '1' },
  { part: 'patterns' },
  { part: 'fields' },
  { part: 'compare', q: 'outcome:bad', against: `outcome:good or project:borealis or source:${AUTH}` },
];
const OWN_PROJECT = { pins: { project: 'aurora' } };
const OWN_SOURCE = { sources: [EDGE] };
const BOTH = { ...OWN_SOURCE, ...OWN_PROJECT };

describe.each<[string, () => Promise<string>, Sees]>([
  ['a key that is limited to sources', () => newKey(OWN_SOURCE), { source: EDGE }],
  ['a key that pins project', () => newKey(OWN_PROJECT), { project: 'aurora' }],
  ['a token with both limits', () => createToken(BOTH), { source: EDGE, project: 'aurora' }],
])('%s', async (_, createCredential, sees) => {
  const credential = await createCredential();
  const isOwn = (one: Required<Sees>) =>
    Object.entries(sees).every(([name, value]) => one[name as keyof Sees] === value);
  const marksOf = (some: typeof ALL) => some.map(({ source, project }) => mark(source, project));
  const own = marksOf(ALL.filter(isOwn));
  const others = marksOf(ALL.filter((one) => !isOwn(one)));

  test.each(PARTS)('sees its own by %j', async (parameters) => {
    const { status, body, text } = await ask(parameters, credential);
    expect(status, text).toBe(200);
    expect(body.result).toEqual((await ask({ ...parameters, ...sees })).body.result);
    for (const one of own) expect(text).toContain(one);
    for (const other of others) expect(text).not.toContain(other);
    const everything = await ask(parameters);
    for (const other of others) expect(everything.text).toContain(other);
  });

  const hidden: Readonly<Record<string, string>> = { source: AUTH, project: 'borealis' };
  const isForbidden = Object.keys(sees).flatMap((name) => PARTS.map((part) => ({ name, part })));
  test.each(isForbidden)('may not name another $name with $part', async ({ name, part }) => {
    expectError(await ask({ ...part, [name]: hidden[name] ?? '' }, credential), 'forbidden');
  });
});
