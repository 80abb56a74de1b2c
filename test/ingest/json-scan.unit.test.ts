import { isAscii } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NOT_JSON, planPaths } from '../../src/ingest/json/grammar.ts';
import {
  dropDuplicates,
  findJsonFault,
  type JsonLimits,
  type JsonPlace,
  MEMBER_SPANS,
  scanJson,
} from '../../src/ingest/json/scan.ts';
import { findValue } from '../../src/lib/json.ts';
import { countNames, isJson, json, parseByHex, space, string, toHex } from '../support/json-text.ts';
import { runs } from '../support/property.ts';

const LIMITS: JsonLimits = { depthMax: 100, keysMax: 10_000, keyCharsMax: 1_000 };

function cutMembers(text: string) {
  const bytes = Buffer.from(text);
  const { kind, spans } = scanJson(bytes, { limits: LIMITS });
  expect(kind).toBe('object');
  const cut = (at: number) => bytes.toString('utf8', spans[at], spans[at + 1]);
  return Array.from({ length: spans.length / MEMBER_SPANS }, (_, i) => ({
    name: cut(MEMBER_SPANS * i),
    text: cut(MEMBER_SPANS * i + 2),
  }));
}

/** What a scan has found at a path; of an object or array what stands in its place. */
function asValue(bytes: Buffer, found: unknown): unknown {
  if (typeof found !== 'object' || found === null) return found;
  const { start, end } = found as JsonPlace;
  return parseByHex(bytes.toString('utf8', start, end));
}

function isAccepted(bytes: Buffer): boolean {
  try {
    scanJson(bytes);
    return true;
  } catch (error) {
    if (error !== NOT_JSON) throw error;
    return false;
  }
}

describe('a scan', () => {
  const member = fc.tuple(space, string, space, space, json, space);
  const toText = ([a, name, b, c, value, d]: string[]) => `${a}${name}${b}:${c}${value}${d}`;

  test('finds the members of an object exactly as they stand', () => {
    fc.assert(
      fc.property(fc.array(member, { maxLength: 5 }), space, space, (list, before, after) => {
        const found = cutMembers(`${before}{${list.map(toText).join(',')}}${after}`);
        expect(found).toEqual(list.map(([, name, , , value]) => ({ name, text: value })));
      }),
      runs(1000),
    );
  });

  const signs = [...'{}[]:,"\\/ue0.-+1 \n\t\u0001é😀'];
  const part = fc.constantFrom(...signs, ...'"" {"a":1} true null \\u00 00 1e'.split(' '));

  test('accepts what JSON.parse accepts', () => {
    let accepted = 0;
    const mutated = fc.tuple(json, fc.nat(), fc.nat({ max: 3 }), fc.array(part, { maxLength: 2 }));
    const made = fc.tuple(fc.constant(''), fc.nat(), fc.nat(), fc.array(part));
    fc.assert(
      fc.property(fc.oneof(mutated, made), ([text, where, removed, put]) => {
        const at = where % (text.length + 1);
        const changed = (text.slice(0, at) + put.join('') + text.slice(at + removed)).toWellFormed();
        const expected = isJson(changed);
        expect(isAccepted(Buffer.from(changed)), changed).toBe(expected);
        accepted += Number(expected);
      }),
      runs(5000),
    );
    expect(accepted).toBeGreaterThan(0);
  });

  test('finds duplicates, without which it reads the values at paths as an event that JSON.parse has read', () => {
    const names = String.raw`"a" "b" "\u0062" "ab" "\u0061b" "c" "__proto__" "é" "d\n"`;
    const name = fc.constantFrom(...names.split(' '));
    const { object } = fc.letrec<{ object: string; value: string }>((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, json, tie('object')),
      object: fc
        .array(fc.tuple(space, name, space, space, tie('value'), space), { maxLength: 5 })
        .map((list) => `{${list.map(toText).join(',')}}`),
    }));
    const paths = ['a', 'b.a', 'b.b.c', 'a.b', 'é', 'd\n.a', 'ab', 'a', '__proto__.a'].map((path) =>
      path.split('.'),
    );
    const plan = planPaths(paths);
    fc.assert(
      fc.property(object, (text) => {
        const received = Buffer.from(text);
        const bytes = dropDuplicates(received);
        const event = parseByHex(text);
        expect(parseByHex(bytes.toString())).toEqual(event);
        expect(countNames(bytes.toString())).toBe(countNames(JSON.stringify(event)));
        if (bytes !== received) expect(scanJson(received, { limits: LIMITS }).mayHaveDuplicates).toBe(true);
        const ascii = isAscii(bytes) ? bytes.toString() : undefined;
        const { values } = scanJson(bytes, { paths: plan, text: ascii });
        for (const path of paths) {
          const value = findValue(event, path.map(toHex));
          expect(asValue(bytes, values[plan.slots.get(path) ?? -1]), path.join('.')).toEqual(value);
        }
      }),
      runs(2000),
    );
  });
});

test.each([
  ['{"a": x}', 6],
  ['{"a": 1,\n "b": [1, 2,]}', 21],
  ['{"a" 1}', 5],
  ['{"a": "b}', 6],
  ['["é" 1]', 6],
  ['[}', 1],
  ['{"a": 1', 7],
  ['{"a": 1} 2', 9],
  ['[1]', undefined],
])('%j is not JSON from byte %i on', (text, at) => expect(findJsonFault(Buffer.from(text))).toBe(at));
