import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fuzz } from '../../trial/fuzz/fuzz.ts';
import { KEY, withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../folder.ts';
import { readPauses, watchPauses } from '../pauses.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { fuzzDecoders, fuzzDecoding } from './fuzz-decoders.ts';
import { slowTexts } from './slow-texts.ts';

const PUBLIC_KEY = 'bench-public-key-0123456789';
const MARKER = 'wrong-key-5Xq9';
const SEED = 1;
const SAY_EVERY = 20_000;
const PAUSE_MS_MAX = 50;

export const FUZZ_MEASUREMENTS = ['inputs', 'decoders', 'decoding', 'texts'];

/** Random requests to every route, random bodies for every decoder of events, and the slowest texts of each parser. */
export async function fuzzSection({ inputs, only }: BenchOptions): Promise<Row[]> {
  const isChosen = (name: string) => only.length === 0 || only.includes(name);
  return [
    ...(isChosen('inputs') ? await randomInputs(inputs) : []),
    ...(isChosen('decoders') ? await fuzzDecoders(inputs) : []),
    ...(isChosen('decoding') ? await fuzzDecoding(inputs) : []),
    ...(isChosen('texts') ? await slowTexts() : []),
  ];
}

/** No internal error, no crash, no hang, no key in a response or log. */
async function randomInputs(inputs: number): Promise<Row[]> {
  return await inTemporaryFolder(async (dataDir) => {
    const keys = { good: [KEY, PUBLIC_KEY], marker: MARKER };
    const pausesFile = join(dataDir, 'pauses.json');
    const watch = watchPauses(pausesFile);
    const env = {
      ...watch.env,
      TAILRACE_PUBLIC_KEY: PUBLIC_KEY,
      TAILRACE_REQUEST_TIMEOUT_MS: '2000',
    };
    return await withServer({ dataDir, env, nodeArgs: watch.nodeArgs }, async ({ url, rssMb, pid }) => {
      process.kill(pid, 'SIGUSR2'); // resets the pauses of the start
      const begun = performance.now();
      let longestMs = 0;
      const onProgress = (sent: number) => {
        const { byClockMs, onCoreMs } = readPauses(pausesFile);
        if (onCoreMs > longestMs)
          say(
            `fuzz: after ${sent} ${Math.round(onCoreMs)} ms on a core at once, ${Math.round(byClockMs)} by the clock`,
          );
        longestMs = Math.max(longestMs, onCoreMs);
        if (sent % SAY_EVERY === 0) say(`fuzz: ${sent}/${inputs}, server ${Math.round(rssMb())} MB`);
      };
      const { failures, byStatus, sent, slowestMs } = await fuzz({
        url,
        keys,
        inputs,
        seed: SEED,
        onProgress,
      });
      for (const failure of failures) say(failure);
      const { byClockMs, onCoreMs } = readPauses(pausesFile);
      const log = readFileSync(join(dataDir, 'server.log'), 'utf8');
      const logged = [...keys.good, MARKER].filter((secret) => log.includes(secret));
      const alive = (await fetch(`${url}/health`)).ok;
      const statuses = [...byStatus].toSorted(([a], [b]) => String(a).localeCompare(String(b)));
      say(`fuzz: ${statuses.map(([status, count]) => `${status}: ${count}`).join(', ')}`);
      return [
        { name: 'fuzz: inputs', unit: 'requests', values: [sent] },
        {
          name: 'fuzz: answers against the contract',
          unit: 'requests',
          values: [failures.length],
          goal: { below: 1 },
        },
        { name: 'fuzz: keys in the log', unit: 'keys', values: [logged.length], goal: { below: 1 } },
        { name: 'fuzz: server alive after it', unit: '', values: [alive ? 1 : 0], goal: { atLeast: 1 } },
        { name: 'fuzz: slowest answer', unit: 'ms', values: [slowestMs] },
        {
          name: 'fuzz: longest pause of the event loop',
          unit: 'ms',
          values: [byClockMs],
          goal: { below: PAUSE_MS_MAX },
        },
        { name: 'fuzz: the same, on a core', unit: 'ms', values: [onCoreMs] },
        { name: 'fuzz: inputs a second', unit: '/s', values: [(sent * 1000) / (performance.now() - begun)] },
        { name: 'fuzz: memory of the server after it', unit: 'MB', values: [rssMb()] },
      ];
    });
  });
}
