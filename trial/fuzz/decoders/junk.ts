import type { Random } from '../../../src/lib/random.ts';

/** Parts of texts, as JSON: values that a reader may take for something else. */
const VALUES = [
  ...['null', 'true', '-0', '1e308', '1e999', '9007199254740993', '9'.repeat(400), '""', '[]', '{}', '[[]]'],
  ...['"\\u0000"', '"\\ud800"', '"é\u{1F600}"', '"\ufffd"', '"\\n\\t\\""', '"a,b:c"', '"{\\"a\\":1}"'],
  ...['{"__proto__":{"a":1}}', '{"a":1,"a":2}', '{"":""}', '{"constructor":1}', '[null,[1,{"a":[]}]]'],
  // Not JSON.
  ...['NaN', '01', "'a'", '"\\x"', '{a:1}', '[1,]', '', '"\n"'],
];
const TEXTS = [
  '',
  'a',
  'GET /rest/v1/orders 200',
  'é\u{1F600}',
  '\ud800',
  '\0',
  '{"a":1}',
  '<13>',
  'a\nb',
  '"',
];
const NAMES = [
  ...[
    'message',
    'event_message',
    'msg',
    'project',
    'id',
    'timestamp',
    '@timestamp',
    'time',
    'level',
    'metadata',
  ],
  ...[
    'source',
    'service',
    'ddtags',
    'tags',
    'a',
    '',
    '__proto__',
    'constructor',
    'a.b',
    'é',
    'x'.repeat(1_100),
  ],
];
const SECONDS = Math.floor(Date.UTC(2026, 10, 20) / 1_000);
const TIMES = [
  ...[SECONDS, SECONDS * 1e3, SECONDS * 1e6, `${SECONDS}000000000`, SECONDS + 0.5, -1, 0, 1e20, 1e308].map(
    String,
  ),
  ...[
    '2026-11-20T07:00:00Z',
    '2026-11-20T07:00:00.123456789+05:30',
    '1969-12-31T23:59:59Z',
    '2149-06-07T00:00:00Z',
  ],
  ...['9999-99-99', 'soon', '', '-', 'Nov 20 07:00:00', 'Feb 31 25:61:61', '9'.repeat(400)],
];
/** Units of some grammar, which a mutation writes once or many times. */
const TOKENS = [
  ...['[', ']', '{', '}', '{"a":', '"', '\\', ',', ':', '\n', '\r\n', '\0', ' ', '<', '>', '=', '%', '-'],
  ...[
    '\xff\xfe',
    '\xc3',
    '\xed\xa0\x80',
    '\x1f\x8b',
    '\x80',
    '0',
    '9',
    '4 ',
    '99999999 ',
    '\x0a\x05',
    '\x12\xff\xff\xff\xff\x0f',
  ],
];
const REPEATS = [1, 1, 1, 1, 1, 1, 2, 8, 100];
const REPEATS_MAX = 20_000;

export const junkText = (random: Random) => random.pick(TEXTS);
export const junkName = (random: Random) => random.pick(NAMES);
export const junkTime = (random: Random) => random.pick(TIMES);

/** A number as it is, any other text in quotes. */
export function jsonTime(random: Random): string {
  const time = junkTime(random);
  return /^-?\d+(?:\.\d+)?$/.test(time) && random.chance(0.7) ? time : JSON.stringify(time);
}

/** The JSON of any value; now and then of none. */
export function junkValue(random: Random): string {
  return random.chance(0.6) ? JSON.stringify(junkText(random)) : random.pick(VALUES);
}

/** The JSON of an object with some members, and others that the caller names. */
export function junkObject(random: Random, own: Readonly<Record<string, string>> = {}): string {
  const members = Object.entries(own).filter(() => random.chance(0.9));
  for (let left = random.whole(0, 3); left > 0; left--) members.push([junkName(random), junkValue(random)]);
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** Some results of `make`. */
export function some<T>(random: Random, make: (random: Random) => T, most = 4): T[] {
  return Array.from({ length: random.whole(0, most) }, () => make(random));
}

type Mutation = (bytes: Buffer, random: Random) => Buffer;

function splice(bytes: Buffer, random: Random, part: Uint8Array, removed = 0): Buffer {
  const at = random.whole(0, bytes.length);
  return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at + removed)]);
}

const randomBytes = (random: Random, most: number) =>
  Buffer.from(Array.from({ length: random.whole(0, most) }, () => random.whole(0, 255)));

function token(random: Random): Buffer {
  const times = random.chance(0.002) ? REPEATS_MAX : random.pick(REPEATS);
  return Buffer.from(random.pick(TOKENS).repeat(times), 'latin1');
}

const MUTATIONS: readonly Mutation[] = [
  (bytes, random) => bytes.subarray(0, random.whole(0, bytes.length)),
  (bytes, random) => bytes.subarray(random.whole(0, bytes.length)),
  (bytes, random) => splice(bytes, random, token(random)),
  (bytes, random) => splice(bytes, random, token(random), random.whole(0, 8)),
  (bytes, random) => splice(bytes, random, randomBytes(random, 8), random.whole(0, 8)),
  (bytes, random) => splice(bytes, random, bytes.subarray(random.whole(0, bytes.length))),
  (bytes, random) => {
    const flipped = Buffer.from(bytes);
    const at = random.whole(0, flipped.length - 1);
    if (at >= 0 && at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << random.whole(0, 7));
    return flipped;
  },
  (_, random) => randomBytes(random, 60),
];

/** Damages bytes in up to three places; a third of them stay as they are. */
export function mutate(bytes: Buffer, random: Random): Buffer {
  let damaged = bytes;
  for (let left = random.chance(1 / 3) ? 0 : random.whole(1, 3); left > 0; left--)
    damaged = random.pick(MUTATIONS)(damaged, random);
  return damaged;
}
