import { readDefinitions } from '../../src/definitions/read.ts';
import { type BatchInput, decodeBatch } from '../../src/ingest/decode-batch.ts';
import { MICROS_PER_MS } from '../../src/lib/instant.ts';
import { NDJSON, type TrialEvent, WIRES, type Wire } from '../../trial/wire.ts';
import { makeLines } from '../events.ts';
import { median } from '../measure.ts';
import { type Row, say } from '../report.ts';

const EVENTS = 1_000;
const ROUNDS = 9;
const REPEATS = 5;
// As the service decodes a body of this size.
const BLOCK_ROWS_MIN = 500;

/** The core time of decoding an event of each protocol beside NDJSON with the same content, by turns. */
export async function measureProtocols(): Promise<Row[]> {
  const events = await makeEvents();
  const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
  const now = Date.now() * MICROS_PER_MS;
  const inputOf = ({ format, write }: Wire): (() => BatchInput) => {
    const body = Buffer.from(write(events));
    return () => ({
      ...{ bytes: Buffer.from(body), format, context: {}, candidates: definitions.sources },
      source: definitions.sources.find(({ name }) => name === 'logs'),
      ...{ rules: { now, eventBytesMax: 1_000_000, project: '' }, blockRowsMin: BLOCK_ROWS_MIN },
    });
  };
  const ndjson = inputOf(NDJSON);
  const rows: Row[] = [];
  for (const [name, wire] of Object.entries(WIRES)) {
    const input = inputOf(wire);
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const plain = decode(ndjson);
      ratios.push(plain / decode(input));
    }
    say(`${name}: ${median(ratios).toFixed(2)} of NDJSON`);
    rows.push({
      ...{ name: `decoding ${name}, beside NDJSON`, unit: '×', values: ratios.slice(1) },
      goal: { atLeast: 0.8 },
    });
  }
  return rows;
}

async function makeEvents(): Promise<TrialEvent[]> {
  const lines = await makeLines(EVENTS, 1);
  return lines.map((line, i) => {
    const { timestamp, project, event_message: message, metadata } = JSON.parse(line);
    return { id: `trial.${i}`, timeMs: Date.parse(timestamp), project, message, metadata };
  });
}

/** Decodes some bodies. @returns the process's core time, µs */
function decode(input: () => BatchInput): number {
  const inputs = Array.from({ length: REPEATS }, input);
  const before = process.cpuUsage();
  for (const one of inputs) {
    const { refused, parts } = decodeBatch(one);
    if (refused > 0 || parts[0]?.accepted !== EVENTS) throw new Error('an event was rejected');
  }
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
