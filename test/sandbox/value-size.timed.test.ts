import { afterAll, expect, test } from 'vitest';
import { FUNCTIONS } from '../../src/sandbox/function.ts';
import { growthOf, SMALL } from '../../src/sandbox/value-size.ts';
import { trusted } from '../../src/sql/sql.ts';
import { sample, scale } from '../support/property.ts';
import { isWrongCount, openSandbox } from './support.ts';

const { core, close } = await openSandbox();
afterAll(close);

/** Values that functions make much of, and how many members those have that are lists. */
const VALUES: Readonly<Record<string, readonly [sql: string, members?: number]>> = {
  text: ["repeat('ab /?=&.\\'\\n', 100)"],
  url: ["concat('http://a.b/', repeat('c/', 500), '?', repeat('d=e&', 100))"],
  json: [`concat('{"a":[', repeat('"x",', 200), '"y"],"b":{"c":"d"}}')`],
  bytes: ["repeat(unhex('ff'), 500)"],
  letters: ["repeat('ŉﬃΐ', 200)"],
  number: ["toInt256('-57896044618658097711785492504343953926634992332820282019728')"],
  small: ['3'],
  short: ["'a'"],
  format: ["repeat('%W%M', 100)"],
  texts: ["arrayMap(x -> repeat('\\'', 10), range(100))", 100],
  numbers: ['arrayMap(x -> toUInt8(255), range(1000))', 1_000],
  map: ['mapFromArrays(arrayMap(x -> toString(x), range(100)), range(100))', 100],
};

const units = new Map<string, number>();
async function unitsOf(sql: string): Promise<number> {
  const [row] = await core.engine.inspect(trusted(`SELECT byteSize(${sql}) AS bytes`));
  return Number(row?.['bytes']) / 1_024;
}

test('no function gives more than is expected of it', async () => {
  for (const [name, [sql, members = 1]] of Object.entries(VALUES))
    units.set(name, Math.max(await unitsOf(sql), members * SMALL));
  const keys = Object.keys(VALUES);
  const three = [
    ['text', 'short', 'text'],
    ['url', 'short', 'url'],
    ['text', 'short', 'format'],
    ['short', 'text', 'short'],
    ['small', 'format', 'short'],
    ['text', 'text', 'text'],
  ];
  const calls = [
    ...keys.map((one) => [one]),
    ...keys.flatMap((one) => ['short', 'small', 'numbers'].map((two) => [one, two])),
    ...three,
  ];
  const wrong: string[] = [];
  let answered = 0;
  const names = Object.values(FUNCTIONS).flatMap((list) => list.split(/\s+/));
  for (const name of sample(names.filter((one) => one !== 'lambda' && one !== 'exists'))) {
    const refused = new Set<number>(); // numbers of arguments that the function does not take, whatever they are
    for (const args of calls) {
      if (refused.has(args.length)) continue;
      const call = `${name}(${args.map((arg) => VALUES[arg]?.[0]).join(', ')})`;
      const got = await unitsOf(call).catch((error: unknown) => {
        if (isWrongCount(error)) refused.add(args.length);
        return undefined;
      });
      if (got === undefined) continue;
      answered++;
      const most = growthOf(name.toLowerCase())(args.map((arg) => units.get(arg) ?? 0));
      if (got > most + 2 * SMALL) wrong.push(`${name}(${args.join(', ')}): ${got} KB of at most ${most}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(answered).toBeGreaterThan(scale(1_000));
}, 600_000);
