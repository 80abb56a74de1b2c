import { describe, expect, test } from 'vitest';
import { createParameter } from '../../src/definitions/parameter.ts';
import { findOwner, parsePinnedParameters } from '../../src/query/pins.ts';
import { escapePattern } from '../../src/sql/pattern.ts';
import { CACHED } from '../support/cached-endpoint.ts';
import { errorOf } from '../support/keys.ts';
import { shareService } from '../support/service.ts';

const UUID = '7f0c3a52-5f0b-4a57-9b1c-2f6f3f2b9d10';
const { core } = await shareService();
const parse = (name: string, raw: Record<string, string | string[]>, pins: Record<string, string>) =>
  parsePinnedParameters(core.registry.getEndpoint(name), raw, { pins, bytesMax: 1_000 });

describe('a pinned parameter', () => {
  test.each([[{}], [{ project: '' }], [{ project: 'abc' }]])('has its value for %j', (raw) => {
    const expected = { project: 'abc', project_tier: 'FREE' };
    expect(parse('logs.all', raw, { project: 'abc' })).toMatchObject(expected);
  });

  test('rejects another value, naming each parameter', () => {
    const rejection = errorOf(() =>
      parse('logs.all', { project: 'x', project_tier: 'FREE' }, { project: 'abc', project_tier: 'PRO' }),
    );
    expect(rejection).toMatchObject({
      code: 'forbidden',
      rejectReason: 'pin',
      errors: [
        { parameter: 'project', message: 'is pinned to "abc" by the key' },
        { parameter: 'project_tier', message: 'is pinned to "PRO" by the key' },
      ],
    });
  });

  test.each(['ABC', 'abc ', 'abcd', 'a\u0000bc'])('is compared exactly: %j is another', (project) => {
    expect(errorOf(() => parse('logs.all', { project }, { project: 'abc' })).code).toBe('forbidden');
  });

  test('that is an enum is compared after `otherwise` was taken', () => {
    const free = { project: 'abc', project_tier: 'FREE' };
    expect(parse('logs.all', { project_tier: 'junk' }, free)['project_tier']).toBe('FREE');
    const pro = { project: 'abc', project_tier: 'PRO' };
    for (const project_tier of ['pro', 'junk', 'FREE'])
      expect(errorOf(() => parse('logs.all', { project_tier }, pro)).code).toBe('forbidden');
  });

  test('that is an enum without its value any more is rejected, not replaced', () => {
    const pins = { project: 'abc', project_tier: 'GOLD' };
    expect(errorOf(() => parse('logs.all', {}, pins)).code).toBe('forbidden');
  });

  test('that is a timestamp is compared as an instant', () => {
    const pins = { project: 'abc', iso_timestamp_start: '2026-11-20T07:00:00Z' };
    const same = parse('logs.all', { iso_timestamp_start: '2026-11-20T08:00:00+01:00' }, pins);
    expect(same).toEqual(parse('logs.all', {}, pins));
    const later = () => parse('logs.all', { iso_timestamp_start: '2026-11-20T07:00:01Z' }, pins);
    expect(errorOf(later).code).toBe('forbidden');
  });

  test('that is a pattern is the literal text, sent as it is or escaped', () => {
    const pins = { project: 'a.c|(x)' };
    const values = { project: 'a\\.c\\|\\(x\\)', pinned_project: 'a.c|(x)', interval: 'daily' };
    const ask = (project: string) => parse('usage.api-counts', { project, interval: 'daily' }, pins);
    for (const project of ['', 'a.c|(x)', 'a\\.c\\|\\(x\\)']) expect(ask(project)).toEqual(values);
    for (const project of ['a.c', 'a.c|\\(x\\)', '.*', 'abc|x'])
      expect(errorOf(() => ask(project)).code).toBe('forbidden');
  });

  test('cannot be sent twice, nor be replaced by a name that the service binds', () => {
    const twice = () => parse('logs.all', { project: ['abc', 'abc'] }, { project: 'abc' });
    expect(errorOf(twice).code).toBe('invalid_parameter');
    const sent = { pinned_project: 'other', interval: 'daily', project: 'abc' };
    expect(parse('usage.api-counts', sent, { project: 'abc' })['pinned_project']).toBe('abc');
    expect(parse('usage.api-counts', sent, {})['pinned_project']).toBe('');
  });

  test('that is a list rejects other items, however they are sent', () => {
    const fields = { type: 'list', of: 'integer', description: '' } as const;
    const endpoint = { ...CACHED, parameters: [createParameter('statuses', fields)] };
    const ask = (statuses: string | string[] | undefined) => () =>
      parsePinnedParameters(endpoint, { statuses }, { pins: { statuses: '404,0500' }, bytesMax: 1_000 });
    for (const same of [undefined, '', [], '404,500', ['404', '00500'], '404,0500'])
      expect(ask(same)()).toEqual({ statuses: '[404,500]' });
    for (const other of ['200', ['200', '503'], ['404'], ['500', '404'], ['404,500'], 'x', ['x']])
      expect(errorOf(ask(other)).code, String(other)).toBe('forbidden');
  });

  test.each([
    ['integer', '0500', ['500', '00500'], ['501', '+500', '500.0', 'x']],
    ['number', '0.50', ['.5', '5e-1'], ['0.51', 'NaN']],
    ['boolean', 'true', ['1'], ['0', 'false', 'TRUE']],
    ['date', '2026-11-20', ['2026-11-20'], ['2026-11-21']],
    ['uuid', UUID.toUpperCase(), [UUID], [UUID.replace('7', '8')]],
  ] as const)('of type %s is compared by its value', (type, pin, same, others) => {
    const endpoint = { ...CACHED, parameters: [createParameter('x', { type, description: '' })] };
    const ask = (x?: string) => () =>
      parsePinnedParameters(endpoint, x === undefined ? {} : { x }, { pins: { x: pin }, bytesMax: 1_000 });
    for (const text of same) expect(ask(text)()).toEqual(ask()());
    for (const text of others) expect(errorOf(ask(text)).code, text).toBe('forbidden');
  });

  test('that an endpoint does not have rejects the endpoint, where it is the only one or the project', () => {
    const rejection = errorOf(() => parse('usage.api-counts', { project: 'abc' }, { project_tier: 'PRO' }));
    expect(rejection).toMatchObject({ code: 'forbidden', errors: [{ parameter: 'project_tier' }] });
    const both = { project: 'abc', project_tier: 'PRO' };
    expect(parse('functions.invocation-stats', {}, both)['project']).toBe('abc');
    expect(errorOf(() => parse('logs.all', { project: 'a' }, { toString: 'x' })).code).toBe('forbidden');
  });
});

test('a pinned project rejects an endpoint that matches it as a pattern and does not ask whose the rows are', () => {
  const usage = core.registry.getEndpoint('usage.api-counts');
  const loose = { ...usage, pinned: [] };
  const ask = (pins: Record<string, string>) => () =>
    parsePinnedParameters(loose, { project: 'abc', interval: 'daily' }, { pins, bytesMax: 1_000 });
  expect(errorOf(ask({ project: 'abc' }))).toMatchObject({
    code: 'forbidden',
    errors: [{ parameter: 'project', message: expect.stringContaining('@pinned_project') }],
  });
  expect(ask({})()['project']).toBe('abc');
});

test('an escaped text is a pattern that the engine matches literally', async () => {
  for (const text of ['a.c', '\\', '[', '(', '{2}', '^x$', 'é', '😀', "'", 'a-b', '*+?|)]}', '\\d', '\\Q']) {
    const sql = `SELECT match(concat('<', @text, '>'), concat('^<', @pattern, '>$')) AS own, match('zz', @pattern) AS other`;
    const { bytes } = await core.engine.query(
      sql,
      { text, pattern: escapePattern(text) },
      { format: 'JSONEachRow' },
    );
    expect(JSON.parse(bytes.toString()), text).toEqual({ own: 1, other: 0 });
  }
});

describe('the project that a request asks for', () => {
  const ownerOf = (name: string, raw: Record<string, string>, pins: Record<string, string> = {}) =>
    findOwner(core.registry.getEndpoint(name), parse(name, raw, pins));

  const HOURLY = { interval: 'hourly' };

  test('is the parameter, sent or pinned', () => {
    expect(ownerOf('logs.all', { project: 'abc' })).toBe('abc');
    expect(ownerOf('logs.all', {}, { project: 'abc' })).toBe('abc');
  });

  test('is the pin alone where the parameter is a pattern', () => {
    expect(ownerOf('usage.api-counts', { ...HOURLY, project: 'a.c' })).toBeUndefined();
    expect(ownerOf('usage.api-counts', HOURLY, { project: 'a.c' })).toBe('a.c');
  });
});
