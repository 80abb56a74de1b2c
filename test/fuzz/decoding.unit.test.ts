import { expect, test } from 'vitest';
import { createRandom, type Random } from '../../src/lib/random.ts';
import { decodeBody, EVENT_PARSERS } from '../../trial/fuzz/parsers/bodies.ts';
import { NDJSON, WIRES } from '../../trial/wire.ts';
import { SEED, scale } from '../support/property.ts';

// 10,000 in the gate, 250,000 each night; two tests for most decoders.
const BODIES = scale(scale(250_000));
const TEST_MS_MAX = 600_000;
const BYTES = ['\xff\xfe', '\xed\xa0\x80', '\x1f\x8b', '\x12\xff\xff\x0f'];
const JUNK = [...'[]{}",:\\\n\0 -%<', '\r\n', '{"a":', '99999999 ', ...BYTES];

/** Cuts a body, or writes junk into it, in up to three places. */
function damage(body: Buffer, random: Random): Buffer {
  let damaged = body;
  for (let left = random.whole(0, 3); left > 0; left--) {
    const [at, removed] = [random.whole(0, damaged.length), random.whole(0, 8)];
    const junk = Buffer.from(random.pick(JUNK).repeat(random.pick([1, 1, 1, 8, 100])), 'latin1');
    damaged = random.chance(0.3)
      ? damaged.subarray(0, at)
      : Buffer.concat([damaged.subarray(0, at), junk, damaged.subarray(at + removed)]);
  }
  return damaged;
}

test.each(Object.entries({ ndjson: NDJSON, ...WIRES }))(
  'damaged bodies of %s become events, or are rejected with a known code',
  (name, { format, write }) => {
    const random = createRandom(`${name} ${SEED}`);
    let accepted = 0;
    for (let i = 0; i < BODIES; i++) {
      const metadata = { a: { b: [i, null, 'é"\\'] }, __proto__: null };
      const event = { id: `id.${i}`, timeMs: Date.UTC(2026, 10, 20), project: 'p', message: 'm', metadata };
      accepted += decodeBody(format, damage(Buffer.from(write([event, event])), random));
    }
    expect(accepted).toBeGreaterThan(BODIES / 4);
  },
  TEST_MS_MAX,
);

test.each(Object.entries(EVENT_PARSERS))(
  'texts of the tokens of %s are decoded, or rejected with a known code',
  (name, parser) => {
    const random = createRandom(`${name} ${SEED}`);
    for (let i = 0; i < BODIES; i++) {
      const tokens = Array.from({ length: random.whole(0, 12) }, () => random.pick<string>(parser.tokens));
      expect(() => parser.parse(tokens.join(''))).not.toThrow();
    }
  },
  TEST_MS_MAX,
);
