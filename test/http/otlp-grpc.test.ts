import { connect } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { findFreePort } from '../../trial/free-port.ts';
import { startProtocolService } from '../support/protocols.ts';
import { PRIVATE_KEY, PUBLIC_KEY } from '../support/service.ts';
import { newProject } from '../support/shared-service.ts';

const port = await findFreePort();
const service = await startProtocolService({
  TAILRACE_OTLP_GRPC_PORT: String(port),
  TAILRACE_BODY_BYTES_MAX: '100000',
});
afterAll(service.close);
const { rows } = service;
const url = `http://127.0.0.1:${port}`;
const EXPORT = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';

function frame(bytes: Uint8Array, { isCompressed = false, length = bytes.length } = {}): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = Number(isCompressed);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, bytes]);
}

/** Calls by hand: what exporters do not send. */
async function call(body: Buffer, headers: Record<string, string> = {}, path = EXPORT) {
  const session = connect(url);
  try {
    const stream = session.request({
      ...{ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' },
      ...{ 'x-api-key': PUBLIC_KEY, ...headers },
    });
    const seen: Record<string, unknown> = {};
    stream.on('response', (head) => Object.assign(seen, head));
    stream.on('trailers', (trailers) => Object.assign(seen, trailers));
    stream.end(body);
    const chunks: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
    return {
      status: Number(seen['grpc-status']),
      message: decodeURIComponent(String(seen['grpc-message'] ?? '')),
      details: seen['grpc-status-details-bin'],
      body: Buffer.concat(chunks),
    };
  } finally {
    session.close();
  }
}

describe('a call', () => {
  const one = (project: string) =>
    Buffer.concat([
      // ResourceLogs { ScopeLogs { LogRecord { attributes: tailrace.project } } }
      ...nest([0x0a, 0x12, 0x12, 0x32], attribute('tailrace.project', project)),
    ]);
  function attribute(key: string, value: string): Buffer {
    const text = (tag: number, bytes: Buffer) => Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
    return Buffer.concat([text(0x0a, Buffer.from(key)), text(0x12, text(0x0a, Buffer.from(value)))]);
  }
  function nest(tags: readonly number[], inner: Buffer): Buffer[] {
    return [
      tags.reduceRight((bytes, tag) => Buffer.concat([Buffer.from([tag, bytes.length]), bytes]), inner),
    ];
  }

  test('stores its records and answers with an empty message', async () => {
    const project = newProject();
    const answers = [
      await call(frame(one(project))),
      await call(frame(gzipSync(one(project)), { isCompressed: true }), { 'grpc-encoding': 'gzip' }),
      await call(frame(one(project)), { 'x-api-key': '', authorization: `Bearer ${PRIVATE_KEY}` }),
    ];
    for (const { status, body } of answers) expect([status, [...body]]).toEqual([0, [0, 0, 0, 0, 0]]);
    expect(await rows(project)).toHaveLength(3);
  });

  test.each<[string, Buffer, Record<string, string>, number, string]>([
    ['without a key', frame(Buffer.alloc(0)), { 'x-api-key': '' }, 16, ''],
    ['that is no protobuf', frame(Buffer.from('{"a":1}')), {}, 3, 'protobuf'],
    ['that is shorter than its prefix', frame(Buffer.alloc(9), { length: 2 ** 31 }), {}, 3, 'prefix'],
    [
      'that is a bomb',
      frame(gzipSync(Buffer.alloc(2_000_000)), { isCompressed: true }),
      { 'grpc-encoding': 'gzip' },
      3,
      'larger',
    ],
  ])('%s fails with its status', async (_, body, headers, status, reason) => {
    const answer = await call(body, headers);
    expect([answer.status, answer.message, answer.details]).toEqual([
      status,
      expect.stringContaining(reason),
      undefined,
    ]);
  });
});
