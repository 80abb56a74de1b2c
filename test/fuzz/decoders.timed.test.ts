import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findFreePort } from '../../trial/free-port.ts';
import { DECODERS, fuzzDecoder } from '../../trial/fuzz/decoders/fuzz.ts';
import { startServe } from '../support/cli.ts';
import { SEED, scale } from '../support/property.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

// `npm run bench -- fuzz --only decoders --inputs 100000` sends more.
const INPUTS = scale(500);

const folder = await temporaryFolder();
const [grpcPort, tcpPort, udpPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
const service = await startServe({
  TAILRACE_DATA_DIR: join(folder.path, 'data'),
  TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
  TAILRACE_OTLP_GRPC_PORT: String(grpcPort),
  TAILRACE_SYSLOG: `tcp://127.0.0.1:${tcpPort} udp://127.0.0.1:${udpPort}`,
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

test.each(Object.keys(DECODERS))(
  'random bodies for %s: each gets a response of its protocol',
  async (name) => {
    const target = { url: service.url, key: PRIVATE_KEY, grpcPort, tcpPort, udpPort };
    const { sent, byOutcome, failures } = await fuzzDecoder(name, { target, inputs: INPUTS, seed: SEED });
    expect(failures).toEqual([]);
    expect(sent).toBeGreaterThanOrEqual(INPUTS);
    // The inputs are near enough to what senders send that some are stored.
    expect([200, 202, 204, 'grpc 0', 'sent'].some((outcome) => byOutcome.has(String(outcome)))).toBe(true);
    expect(service.output().stderr).not.toContain('"level":50');
  },
  120_000,
);
