import { join } from 'node:path';
import { readDefinitions } from '../../src/definitions/read.ts';
import { findFreePort } from '../../trial/free-port.ts';
import { DIRECT_DECODERS, fuzzDirectly } from '../../trial/fuzz/decoders/direct.ts';
import { DECODERS, fuzzDecoder } from '../../trial/fuzz/decoders/fuzz.ts';
import { KEY, withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../folder.ts';
import { readPauses, watchPauses } from '../pauses.ts';
import { type Row, say } from '../report.ts';

const SEED = 1;
const PAUSE_MS_MAX = 50;

/** Random bodies to every decoder of events, `inputs` for each. */
export async function fuzzDecoders(inputs: number): Promise<Row[]> {
  return await inTemporaryFolder(async (dataDir) => {
    const pausesFile = join(dataDir, 'pauses.json');
    const watch = watchPauses(pausesFile);
    const [grpcPort, tcpPort, udpPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
    const env = {
      ...watch.env,
      TAILRACE_OTLP_GRPC_PORT: String(grpcPort),
      TAILRACE_SYSLOG: `tcp://127.0.0.1:${tcpPort} udp://127.0.0.1:${udpPort}`,
    };
    return await withServer({ dataDir, env, nodeArgs: watch.nodeArgs }, async ({ url, rssMb, pid }) => {
      const target = { url, key: KEY, grpcPort, tcpPort, udpPort };
      const rows: Row[] = [];
      for (const name of Object.keys(DECODERS)) {
        process.kill(pid, 'SIGUSR2'); // resets the pauses of what was before
        const begun = performance.now();
        const { sent, byOutcome, failures } = await fuzzDecoder(name, { target, inputs, seed: SEED });
        const seconds = (performance.now() - begun) / 1_000;
        for (const failure of failures) say(failure);
        const { byClockMs, onCoreMs } = readPauses(pausesFile);
        const outcomes = [...byOutcome]
          .toSorted()
          .map(([outcome, count]) => `${outcome}: ${count}`)
          .join(', ');
        say(
          `fuzz ${name}: ${outcomes}; pause ${Math.round(byClockMs)} ms, ${Math.round(onCoreMs)} on a core; ${Math.round(seconds)} s, ${Math.round(rssMb())} MB`,
        );
        const about = `fuzz ${name}, ${sent} inputs`;
        rows.push(
          {
            ...{ name: `${about}: answers against the protocol`, unit: 'inputs' },
            ...{ values: [failures.length], goal: { below: 1 } },
          },
          {
            ...{ name: `${about}: longest pause of the event loop`, unit: 'ms' },
            ...{ values: [byClockMs], goal: { below: PAUSE_MS_MAX } },
          },
          { name: `${about}: the same, on a core`, unit: 'ms', values: [onCoreMs] },
        );
      }
      const alive = (await fetch(`${url}/health`)).ok;
      rows.push({
        name: 'fuzz decoders: server alive after it',
        unit: '',
        values: [alive ? 1 : 0],
        goal: { atLeast: 1 },
      });
      rows.push({ name: 'fuzz decoders: memory of the server after it', unit: 'MB', values: [rssMb()] });
      return rows;
    });
  });
}

/** Random bodies to every decoder of events without a server between, `inputs` for each. */
export async function fuzzDecoding(inputs: number): Promise<Row[]> {
  const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
  return Object.keys(DIRECT_DECODERS).flatMap((name): Row[] => {
    const { whole, partly, refused, failures, longestMs } = fuzzDirectly(name, {
      ...{ sources: definitions.sources, inputs, seed: SEED },
    });
    for (const failure of failures) say(failure);
    const about = `decoding ${name}, ${inputs} inputs`;
    say(
      `${about}: ${whole} whole, ${partly} in part, ${refused} refused; longest ${longestMs.toFixed(1)} ms`,
    );
    return [
      {
        ...{ name: `${about}: errors that no protocol has an answer for`, unit: 'inputs' },
        ...{ values: [failures.length], goal: { below: 1 } },
      },
      {
        ...{ name: `${about}: longest of one, on a core`, unit: 'ms' },
        ...{ values: [longestMs], goal: { below: PAUSE_MS_MAX } },
      },
    ];
  });
}
