import { afterAll, describe, expect, test } from 'vitest';
import { messageOf } from '../../src/errors.ts';
import { AGGREGATES, FUNCTIONS } from '../../src/sandbox/function.ts';
import { createTimeZones, ZONE_PLACES } from '../../src/sandbox/time-zone.ts';
import { trusted } from '../../src/sql/sql.ts';
import { sample } from '../support/property.ts';
import { isWrongCount, openSandbox } from './support.ts';

const { core, check, ask, close } = await openSandbox();
afterAll(close);

const NO_ZONE = "'No/Where'";
const NO_TYPE = "'DateTime(\\'No/Where\\')'";
const TIME = "toDateTime64('2026-01-01 00:00:00', 3)";

/** How the engine refuses a call; empty if it does not. */
function failureOf(name: string, args: readonly string[]): Promise<string> {
  return core.engine.inspect(trusted(`SELECT ${name}(${args.join(', ')})`)).then(() => '', messageOf);
}

/** Of some calls of a function, those for which the engine tries to load a zone. */
async function findLoading(name: string, calls: readonly string[][]): Promise<string[][]> {
  const refused = new Set<number>(); // numbers of arguments that the function does not take, whatever they are
  const loading: string[][] = [];
  for (const args of calls) {
    if (refused.has(args.length)) continue;
    const failure = await failureOf(name, args);
    if (isWrongCount(failure)) refused.add(args.length);
    if (failure.includes('Cannot load time zone No/Where')) loading.push(args);
  }
  return loading;
}

/** Arguments of one to four, with what might be a zone in the last place; more come for functions of times. */
function callsOf(zone: string, place: number | undefined): string[][] {
  const others = [TIME, '5', "'day'"];
  const calls = [[zone], ...others.map((one) => [one, zone])];
  for (const first of others) for (const second of others.slice(0, 2)) calls.push([first, second, zone]);
  calls.push(
    ["'day'", TIME, TIME, zone],
    [TIME, 'toIntervalHour(1)', zone],
    [TIME, 'toIntervalHour(1)', TIME, zone],
  );
  for (const first of [TIME, '5']) calls.push([first, "'%Y'", zone]);
  if (place !== undefined) calls.push([...'1111111'].slice(0, place).concat(zone));
  return calls;
}

const names = Object.values({ ...FUNCTIONS, ...AGGREGATES })
  .flatMap((list) => list.split(/\s+/))
  .filter((name) => !['lambda', 'exists'].includes(name));

test('the engine loads a zone only for functions that are listed, and not before the place that is', async () => {
  const wrong: string[] = [];
  const seen = new Set<string>();
  const isListed = (name: string) => ZONE_PLACES.has(name.toLowerCase());
  for (const name of [...names.filter(isListed), ...sample(names.filter((one) => !isListed(one)))]) {
    const place = ZONE_PLACES.get(name.toLowerCase());
    for (const args of await findLoading(name, callsOf(NO_ZONE, place))) {
      seen.add(name.toLowerCase());
      if (place === undefined || args.length - 1 < place) wrong.push(`${name}(${args.join(', ')})`);
    }
  }
  expect(wrong).toEqual([]);
  expect([...ZONE_PLACES.keys()].filter((name) => !seen.has(name))).toEqual([]);
}, 400_000);

test('no function but CAST reads a type, with its zone, from a text', async () => {
  const wrong: string[] = [];
  const others = names.filter((one) => one !== 'CAST' && !ZONE_PLACES.has(one.toLowerCase()));
  const calls = [[NO_TYPE], [TIME, NO_TYPE], ["'{}'", NO_TYPE], ["'{}'", "'a'", NO_TYPE]];
  for (const name of sample(others))
    for (const args of await findLoading(name, calls)) wrong.push(`${name}(${args.join(', ')})`);
  expect(wrong).toEqual([]);
  expect(await findLoading('CAST', [[TIME, NO_TYPE]])).toHaveLength(1);
}, 240_000);

test('functions take the name of another only where the first argument is looked at', async () => {
  const taken: string[] = [];
  const aggregates = Object.values(AGGREGATES).join(' ').split(/\s+/);
  for (const name of names.filter((one) => !aggregates.includes(one)))
    for (const call of [
      `${name}(upper, ['a'])`,
      `${name}(concat, ['a'], ['b'])`,
      `${name}(concat, map('a', 'b'))`,
    ]) {
      const failure = await core.engine.inspect(trusted(`SELECT ${call}`)).then(() => 'none', messageOf);
      if (!/Unknown expression identifier|UNKNOWN_IDENTIFIER/.test(failure)) taken.push(name);
    }
  const allowed: string[] = [];
  for (const name of new Set(taken))
    for (const rest of ["['a'], ['b']", "map('a', 'b')", "['a']"]) {
      await check(`SELECT ${name}(later, ${rest}) FROM app`).then(
        () => allowed.push(`${name}(${rest})`),
        () => {},
      );
    }
  expect(new Set(taken).size).toBeGreaterThan(20);
  expect(allowed).toEqual([]);
}, 240_000);

describe('a zone of the tz database', () => {
  test.each([
    "SELECT toTimezone(timestamp, 'Europe/Berlin') AS t FROM app LIMIT 1",
    "SELECT toHour(timestamp, 'Asia/Kolkata') AS t FROM app LIMIT 1",
    "SELECT timestamp::DateTime('America/Argentina/Buenos_Aires') AS t FROM app LIMIT 1",
    "SELECT CAST(timestamp AS Nullable(DateTime64(3, 'Etc/GMT+5'))) AS t FROM app LIMIT 1",
    "SELECT timestamp AT TIME ZONE 'UTC' AS t FROM app LIMIT 1",
  ])('may be written out: %s', async (sql) => {
    expect(await ask(sql)).toHaveLength(1);
  });

  test('does not count again, whoever asks for it; one too many is refused with those that are there', () => {
    const names = Array.from({ length: 40 }, (_, i) => `Zone/Number_${i}`);
    const zones = createTimeZones(names);
    for (const name of names.slice(0, 31)) zones.use([name, 'UTC']);
    expect(() => zones.use(names.slice(0, 31))).not.toThrow();
    expect(() => zones.use(['Zone/Number_31'])).toThrow(
      /has 32 of at most 32; those are UTC, Zone\/Number_0/,
    );
    expect(() => zones.use(['Zone/Number_31'])).toThrow(/32/);
  });

  test('is not one that only the machine has', () => {
    const zones = createTimeZones(['localtime', 'Fixed/UTC+01:00:00', 'posix/UTC', 'Europe/./Berlin', 'UTC']);
    for (const zone of ['localtime', 'Fixed/UTC+01:00:00', 'posix/UTC', 'Europe/./Berlin'])
      expect(() => zones.check(zone)).toThrow(/must not have the time zone/);
    zones.check('UTC');
  });
});
