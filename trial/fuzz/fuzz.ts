import fc from 'fast-check';
import { type FuzzInput, type FuzzKeys, fuzzInput } from './input.ts';
import { isRefusal } from './refusal.ts';
import { createWire, type Exchange, type Wire } from './wire.ts';

export interface FuzzOptions {
  /** Of a service on 127.0.0.1. */
  readonly url: string;
  readonly keys: FuzzKeys;
  readonly inputs: number;
  /** The same seed gives the same inputs. */
  readonly seed: number;
  readonly onProgress?: (sent: number) => void;
}

export interface FuzzResult {
  readonly sent: number;
  readonly byStatus: ReadonlyMap<number | 'closed', number>;
  /** What was wrong, with the input; at most so many as one can read. */
  readonly failures: readonly string[];
  readonly slowestMs: number;
}

const CONNECTIONS = 8;
const BATCH = 1_000;
// Longer than the longest that the service under test may take for anything.
const ANSWER_MS_MAX = 20_000;
const FAILURES_MAX = 20;

/** Sends random requests and holds every answer against what docs/errors.md promises. */
export async function fuzz({ url, keys, inputs, seed, onProgress }: FuzzOptions): Promise<FuzzResult> {
  const port = Number(new URL(url).port);
  const wires = Array.from({ length: CONNECTIONS }, () => createWire({ port, timeoutMs: ANSWER_MS_MAX }));
  const byStatus = new Map<number | 'closed', number>();
  const failures: string[] = [];
  const secrets = [...keys.good, keys.marker];
  const arbitrary = fuzzInput(keys);
  let slowestMs = 0;

  async function send(wire: Wire, input: FuzzInput): Promise<void> {
    const begun = performance.now();
    const how = { isHead: input.isHead, toEnd: !input.wellFormed };
    const exchange = await wire.exchange(input.bytes, how).catch((error: Error) => error.message);
    slowestMs = Math.max(slowestMs, performance.now() - begun);
    const fault = typeof exchange === 'string' ? exchange : findFault(exchange, input, secrets);
    const status = typeof exchange === 'string' ? 'closed' : (exchange.answer?.status ?? 'closed');
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    if (fault !== undefined && failures.length < FAILURES_MAX)
      failures.push(`${fault}, for ${JSON.stringify(input.bytes.toString('latin1').slice(0, 700))}`);
  }

  let sent = 0;
  for (let batch = 0; sent < inputs && failures.length < FAILURES_MAX; batch++) {
    const numRuns = Math.min(BATCH, inputs - sent);
    const queue = fc.sample(arbitrary, { seed: seed + batch, numRuns });
    await Promise.all(
      wires.map(async (wire) => {
        for (let input = queue.pop(); input !== undefined; input = queue.pop()) await send(wire, input);
      }),
    );
    sent += numRuns;
    onProgress?.(sent);
  }
  for (const wire of wires) wire.close();
  return { sent, byStatus, failures, slowestMs };
}

function findFault(
  { answer, text }: Exchange,
  { bytes, wellFormed, isHead }: FuzzInput,
  secrets: readonly string[],
): string | undefined {
  if (secrets.some((secret) => text.includes(secret)))
    return `a secret came back in ${JSON.stringify(text.slice(0, 1_000))}`;
  if (answer === undefined) return wellFormed ? 'the connection was closed without an answer' : undefined;
  const { status, head, body } = answer;
  if (status >= 500 && status !== 503 && status !== 504) return `status ${status}: ${body.slice(0, 500)}`;
  if (status < 400 || isHead || head === '') return undefined;
  const [, path = ''] = bytes.subarray(0, PATH_BYTES).toString('latin1').split(/[ ?]/);
  return isRefusal(path, status, body)
    ? undefined
    : `status ${status} with a body of its own: ${body.slice(0, 500)}`;
}

const PATH_BYTES = 200;
