import { createRandom } from '../../../src/lib/random.ts';
import { createGrpcSender } from './grpc.ts';
import { createHttpSender } from './http.ts';
import type { FuzzedSender } from './sender.ts';
import { createSyslogSender } from './syslog.ts';
import { HTTP_DECODERS } from './table.ts';

/** A service whose decoders are fuzzed. */
export interface DecoderTarget {
  readonly url: string;
  readonly key: string;
  /** Ports of 127.0.0.1. */
  readonly grpcPort: number;
  readonly tcpPort: number;
  readonly udpPort: number;
}

type CreateSender = (target: DecoderTarget) => FuzzedSender;

/** Every decoder by its name, with the sender of its inputs. */
export const DECODERS: Readonly<Record<string, CreateSender>> = {
  ...Object.fromEntries(
    Object.entries(HTTP_DECODERS).map(([name, decoder]): [string, CreateSender] => [
      name,
      (target) => createHttpSender(decoder, target),
    ]),
  ),
  'otlp-grpc': ({ key, grpcPort }) => createGrpcSender({ url: `http://127.0.0.1:${grpcPort}`, key }),
  'syslog-tcp': ({ tcpPort, ...target }) => createSyslogSender({ ...target, port: tcpPort }, 'tcp'),
  'syslog-udp': ({ udpPort, ...target }) => createSyslogSender({ ...target, port: udpPort }, 'udp'),
};

export interface DecoderResult {
  readonly sent: number;
  readonly byOutcome: ReadonlyMap<string, number>;
  /** What was against the protocol, with the input; at most as many as one can read. */
  readonly failures: readonly string[];
}

// More would share the turns of the event loop whose pauses are measured.
const SENDERS = 16;
const FAILURES_MAX = 10;

/** Sends random inputs to one decoder. The same seed gives the same inputs. */
export async function fuzzDecoder(
  name: string,
  {
    target,
    inputs,
    seed,
  }: { readonly target: DecoderTarget; readonly inputs: number; readonly seed: number },
): Promise<DecoderResult> {
  const open = getDecoder(name);
  const byOutcome = new Map<string, number>();
  const failures: string[] = [];
  let sent = 0;

  async function run(at: number): Promise<void> {
    const random = createRandom(`${name} ${seed} ${at}`);
    const sender = open(target);
    while (sent < inputs && failures.length < FAILURES_MAX) {
      sent++;
      const { outcome, fault } = await sender
        .send(random)
        .catch(({ message }: Error) => ({ outcome: 'failed', fault: message }));
      byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + 1);
      if (fault !== undefined) failures.push(fault);
    }
    await sender.close().catch(({ message }: Error) => failures.push(message));
  }

  // A syslog sender marks what is stored by its project: it is one.
  const senders = name.startsWith('syslog') ? 1 : SENDERS;
  await Promise.all(Array.from({ length: senders }, (_, at) => run(at)));
  return { sent, byOutcome, failures };
}

function getDecoder(name: string): CreateSender {
  const decoder = DECODERS[name];
  if (decoder === undefined) throw new Error(`there is no decoder ${name}`);
  return decoder;
}
