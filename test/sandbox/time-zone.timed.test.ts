import { expect, test } from 'vitest';
import { messageOf } from '../../src/errors.ts';
import { ZONE_PLACES } from '../../src/sandbox/argument-rules.ts';
import { AGGREGATES, FUNCTIONS } from '../../src/sandbox/function.ts';
import { trusted } from '../../src/sql/sql.ts';
import { openSandbox } from './support.ts';

const { core } = await openSandbox();

const ZONE = "'No/Where'";
const TYPE = "'DateTime(\\'No/Where\\')'";
const TIME = "toDateTime64('2026-01-01 00:00:00', 3)";

/** Arguments of one to four, with what may be a zone at the end. */
function callsOf(zone: string, place: number | undefined): string[][] {
  const others = [TIME, '5', "'day'"];
  const calls = [[zone], ...others.map((one) => [one, zone])];
  for (const first of others) for (const second of others.slice(0, 2)) calls.push([first, second, zone]);
  calls.push(["'day'", TIME, TIME, zone], [TIME, 'toIntervalHour(1)', zone]);
  calls.push([TIME, 'toIntervalHour(1)', TIME, zone], [TIME, "'%Y'", zone], ['5', "'%Y'", zone]);
  if (place !== undefined) calls.push([...'1111111'].slice(0, place).concat(zone));
  return calls;
}

const names = Object.values({ ...FUNCTIONS, ...AGGREGATES })
  .flatMap((list) => list.split(/\s+/))
  .filter((name) => !['lambda', 'exists', 'CAST'].includes(name));

test('the engine loads a zone only for the functions that are listed, and not before the place that is', async () => {
  const wrong: string[] = [];
  const seen = new Set<string>();
  for (const name of names) {
    const place = ZONE_PLACES.get(name.toLowerCase());
    const types = place === undefined ? [[TYPE], [TIME, TYPE], ["'{}'", TYPE], ["'{}'", "'a'", TYPE]] : [];
    for (const args of [...callsOf(ZONE, place), ...types]) {
      const call = `${name}(${args.join(', ')})`;
      const failure = await core.engine.inspect(trusted(`SELECT ${call}`)).then(() => '', messageOf);
      if (!failure.includes('Cannot load time zone No/Where')) continue;
      seen.add(name.toLowerCase());
      if (place === undefined || args.length - 1 < place) wrong.push(call);
    }
  }
  expect(wrong).toEqual([]);
  expect([...ZONE_PLACES.keys()].filter((name) => !seen.has(name))).toEqual([]);
});
