import { gzipSync } from 'node:zlib';
import { compressSync } from 'snappy';
import type { Random } from '../../../src/lib/random.ts';
import { protobufField, varint } from '../../protobuf-field.ts';
import { jsonTime, junkName, junkObject, junkText, junkTime, junkValue, mutate, some } from './junk.ts';

/** Writes a body that a decoder mostly accepts. */
export type MakeBody = (random: Random) => Buffer;

const text =
  (make: (random: Random) => string): MakeBody =>
  (random) =>
    Buffer.from(make(random));
const list = (parts: readonly string[]) => `[${parts.join(',')}]`;
const event = (random: Random, message = 'message') =>
  junkObject(random, {
    [message]: junkValue(random),
    timestamp: jsonTime(random),
    project: junkValue(random),
    metadata: junkValue(random),
  });
const events = (random: Random) => some(random, (one) => event(one));

export const jsonEvents = text((random) => (random.chance(0.8) ? list(events(random)) : event(random)));
export const jsonLines = text((random) => events(random).join(random.pick(['\n', '\r\n', '\n\n'])));
export const textLines = text((random) => some(random, junkText).join('\n'));
export const joinedEvents = text((random) => {
  const one = () =>
    junkObject(random, {
      time: jsonTime(random),
      event: random.chance(0.5) ? event(random) : junkValue(random),
      fields: junkObject(random),
      host: junkValue(random),
    });
  return some(random, one).join(random.pick(['', '', '\n', ' ', ',']));
});

export const lokiJson = text((random) => {
  const entry = () =>
    list([JSON.stringify(junkTime(random)), junkValue(random), ...some(random, junkObject, 1)]);
  const stream = () => `{"stream":${junkObject(random)},"values":${list(some(random, entry))}}`;
  return `{"streams":${list(some(random, stream, 3))}}`;
});

export const bulk = text((random) => {
  const action = random.pick(['create', 'create', 'index', 'index', 'update', 'delete', '', '__proto__']);
  const item = () =>
    `{"${action}":${junkObject(random, { _index: junkValue(random), _id: junkValue(random) })}}\n${event(random)}`;
  return `${some(random, item).join('\n')}${random.pick(['\n', '\n', ''])}`;
});

export const firehose = text((random) => {
  const inner = (): Buffer => {
    const logEvents = list(
      some(random, (one) =>
        junkObject(one, { id: junkValue(one), timestamp: jsonTime(one), message: junkValue(one) }),
      ),
    );
    const watch = junkObject(random, { messageType: '"DATA_MESSAGE"', logEvents });
    const bytes = mutate(Buffer.from(random.chance(0.3) ? watch : events(random).join('\n')), random);
    return random.chance(0.3) ? mutate(gzipSync(bytes), random) : bytes;
  };
  const record = () => junkObject(random, { data: JSON.stringify(inner().toString('base64')) });
  return junkObject(random, {
    requestId: '"r"',
    timestamp: jsonTime(random),
    records: list(some(random, record)),
  });
});

/** A line of RFC 5424 or RFC 3164, or of neither. */
export function syslogLine(random: Random): string {
  const word = () => random.pick(['-', 'host', 'app', '1', '[tailrace@1', 'é', 'x'.repeat(300), '']);
  const data = () =>
    random.pick(['-', '[tailrace@1 project="a"]', '[a b="\\]"][c d="\\""]', '[', '[a b="', '[a b=c]', '']);
  const priority = random.pick(['<13>', '<13>1', '<191>1', '<192>1', '<999>1', '<>', '<-1>', '']);
  return random.chance(0.6)
    ? [priority, junkTime(random), word(), word(), word(), word(), data(), junkText(random)].join(' ')
    : `${priority}${junkTime(random)} ${word()} ${word()}[${word()}]: ${junkText(random)}`;
}

export const frames: MakeBody = (random) => {
  const parts = some(random, (one) => {
    const line = mutate(Buffer.from(`${syslogLine(one)}\n`), one);
    const wrong = one.chance(0.05) ? one.whole(-line.length, 9) : 0;
    return Buffer.concat([Buffer.from(`${line.length + wrong} `), line]);
  });
  return Buffer.concat(parts);
};

export const otlpJson = text((random) => {
  const any = () =>
    random.pick([
      `{"stringValue":${junkValue(random)}}`,
      `{"intValue":${jsonTime(random)}}`,
      `{"kvlistValue":{"values":[]}}`,
      `{"bytesValue":${junkValue(random)}}`,
      junkValue(random),
    ]);
  const attribute = () => `{"key":${JSON.stringify(junkName(random))},"value":${any()}}`;
  const record = () =>
    junkObject(random, {
      timeUnixNano: jsonTime(random),
      body: any(),
      attributes: list(some(random, attribute)),
      traceId: junkValue(random),
      severityText: junkValue(random),
    });
  const scope = () => junkObject(random, { logRecords: list(some(random, record)) });
  const resource = () => `{"attributes":${list(some(random, attribute))}}`;
  const logs = () => junkObject(random, { resource: resource(), scopeLogs: list(some(random, scope, 2)) });
  return `{"resourceLogs":${list(some(random, logs, 2))}}`;
});

const all = (parts: readonly Uint8Array[]) => Buffer.concat(parts);

export const otlpProtobuf: MakeBody = (random) => {
  const any = (): Buffer =>
    random.pick([
      () => protobufField(1, junkText(random)),
      () => protobufField(7, junkText(random)),
      () => protobufField(5, protobufField(1, protobufField(1, 'a'))),
      () => Buffer.of(0x18, 1),
    ])();
  const attribute = () => all([protobufField(1, junkName(random)), protobufField(2, any())]);
  const time = () => all([Buffer.of(9), Buffer.from(random.hex() + random.hex(), 'hex')]);
  const record = () =>
    all([
      time(),
      protobufField(5, any()),
      protobufField(3, junkText(random)),
      protobufField(9, junkText(random)),
      ...some(random, () => protobufField(6, attribute())),
    ]);
  const logs = () =>
    all([
      protobufField(1, protobufField(1, attribute())),
      protobufField(2, all(some(random, () => protobufField(2, record())))),
    ]);
  return all(some(random, () => protobufField(1, logs()), 2));
};

const SECONDS = [0, 1, -1, 1_763_600_000, 2 ** 40, Number.MAX_SAFE_INTEGER];
const LABELS = [
  '{}',
  '{app="a"}',
  '{app="a", project="b"}',
  '{app=`a`}',
  '{a="\\x"}',
  '{a',
  '',
  '{__proto__="a"}',
];

/** Snappy of a push request; some say another length than they become. */
export const lokiProtobuf: MakeBody = (random) => {
  const time = () =>
    all([
      Buffer.of(8),
      varint(random.pick(SECONDS)),
      Buffer.of(16),
      varint(random.pick([0, -1, 999_999_999, 2 ** 31])),
    ]);
  const pair = () => all([protobufField(1, junkName(random)), protobufField(2, junkText(random))]);
  const entry = () =>
    all([
      protobufField(1, time()),
      protobufField(2, junkText(random)),
      ...some(random, () => protobufField(3, pair()), 2),
    ]);
  const stream = () =>
    all([protobufField(1, random.pick(LABELS)), ...some(random, () => protobufField(2, entry()))]);
  const packed = compressSync(mutate(all(some(random, () => protobufField(1, stream()), 3)), random));
  if (random.chance(0.9)) return packed;
  const head = packed.findIndex((byte) => byte < 128) + 1;
  return all([varint(random.pick([0, 1, 2 ** 20, 2 ** 31, 2 ** 32 - 1])), packed.subarray(head)]);
};
