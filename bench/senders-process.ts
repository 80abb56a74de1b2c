import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { send } from '../trial/http.ts';
import { protobufField } from '../trial/protobuf-field.ts';
import { KEY } from '../trial/server.ts';
import { NDJSON, type TrialEvent, WIRES, type Wire } from '../trial/wire.ts';
import { makeLines } from './events.ts';

/** Senders of one protocol, each with one connection. */
export interface SendersJob {
  readonly url: string;
  readonly grpcPort: number;
  readonly tcpPort: number;
  /** A wire of trial/wire.ts, `ndjson`, `otlp-grpc` or `syslog`. */
  readonly name: string;
  readonly senders: number;
  readonly eventsPerRequest: number;
  readonly seconds: number;
}

export interface SendersResult {
  /** Events that were acknowledged; of syslog, that its ports took. */
  readonly events: number;
  /** Requests that were rejected: to be sent again. */
  readonly refused: number;
  readonly bytesPerRequest: number;
}

/** Sends one body. @returns whether it was accepted */
type SendOne = () => Promise<boolean>;

const RETRY_MS = 1_000;

process.once('message', async (job: SendersJob) => {
  process.send?.(await run(job), () => process.exit());
});

async function run(job: SendersJob): Promise<SendersResult> {
  const events = (await makeLines(job.eventsPerRequest, 1)).map((line, i): TrialEvent => {
    const { timestamp, project, event_message: message, metadata } = JSON.parse(line);
    return { id: `trial.${i}`, timeMs: Date.parse(timestamp), project, message, metadata };
  });
  const { body, open } = createProtocol(job, events);
  const endMs = performance.now() + job.seconds * 1_000;
  const counts = { accepted: 0, refused: 0 };
  async function sender(): Promise<void> {
    const sendOne = await open();
    while (performance.now() < endMs) {
      if (await sendOne()) counts.accepted++;
      else {
        counts.refused++;
        await wait(RETRY_MS);
      }
    }
  }
  // What has not been answered at the end is left: syslog's senders are held up as long as the store is.
  await Promise.race([
    Promise.all(Array.from({ length: job.senders }, sender)),
    wait(job.seconds * 1_000 + RETRY_MS),
  ]);
  return {
    events: counts.accepted * events.length,
    refused: counts.refused,
    bytesPerRequest: body.length,
  };
}

interface SentProtocol {
  readonly body: Buffer;
  readonly open: () => Promise<SendOne>;
}

function createProtocol(job: SendersJob, events: readonly TrialEvent[]): SentProtocol {
  if (job.name === 'syslog') return syslog(job, events);
  if (job.name === 'otlp-grpc') return grpc(job, events);
  const wire = job.name === 'ndjson' ? NDJSON : (WIRES as Readonly<Record<string, Wire>>)[job.name];
  if (wire === undefined) throw new Error(`there is no protocol ${job.name}`);
  const body = Buffer.from(wire.write(events));
  const agent = new Agent({ keepAlive: true });
  const call = { path: wire.path, body, headers: { 'content-type': wire.type } };
  return {
    body,
    open: async () => async () => (await send(job.url, agent, call)).status === wire.ok,
  };
}

const textOf = ({ id, message, metadata }: TrialEvent) => `${id} ${message} ${JSON.stringify(metadata)}`;

function syslog({ tcpPort }: SendersJob, events: readonly TrialEvent[]): SentProtocol {
  const body = Buffer.from(events.map((event) => `<14>1 - host app - - - ${textOf(event)}\n`).join(''));
  return {
    body,
    async open() {
      const socket = connect(tcpPort, '127.0.0.1');
      await once(socket, 'connect');
      return async () => {
        if (!socket.write(body)) await once(socket, 'drain');
        return true;
      };
    },
  };
}

const EXPORT = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';

function grpc({ grpcPort }: SendersJob, events: readonly TrialEvent[]): SentProtocol {
  const records = events.map((event) => protobufField(2, protobufField(5, protobufField(1, textOf(event)))));
  const message = protobufField(1, protobufField(2, Buffer.concat(records)));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const body = Buffer.concat([prefix, message]);
  return {
    body,
    async open() {
      const session = connectHttp2(`http://127.0.0.1:${grpcPort}`);
      return async () => {
        const call = session.request({
          ...{ ':method': 'POST', ':path': EXPORT, 'content-type': 'application/grpc', te: 'trailers' },
          'x-api-key': KEY,
        });
        let status: unknown;
        const note = (headers: Readonly<Record<string, unknown>>) => (status ??= headers['grpc-status']);
        call.on('response', note).on('trailers', note).resume().end(body);
        await once(call, 'close');
        return status === '0';
      };
    },
  };
}
