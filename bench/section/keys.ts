import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlStore } from '../../src/keys/control-store.ts';
import type { KeyRecord } from '../../src/keys/key-record.ts';
import { createKeyring, type Keyring } from '../../src/keys/keyring.ts';
import { createSecret } from '../../src/keys/secret.ts';
import { openSqliteStore } from '../../src/keys/sqlite-store.ts';
import { createTokens } from '../../src/keys/token.ts';
import { createRandom } from '../../src/lib/random.ts';
import { KEY, type Server, withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../folder.ts';
import { quantile } from '../measure.ts';
import { type Row, say } from '../report.ts';
import { CACHED_PATHS, load } from './ingest-load.ts';

const KEYS = 100_000;
// Keys in use at the same time.
const FEW = 1_000;
const CALLS = 100_000;
const ROUNDS = 5;
const SECONDS = 4;
const CONNECTIONS = 16;
const MICROS_PER_MS = 1_000;

/** The cost of a key look-up among many keys, alone and in the cheapest request. */
export async function keysSection(): Promise<Row[]> {
  return await inTemporaryFolder(async (dataDir) => {
    const store = openSqliteStore(dataDir);
    const tokens = createTokens({ secret: new Uint8Array(32), now: Date.now });
    const keyring = createKeyring({ store, tokens, privateKey: KEY, publicKey: '', now: Date.now });
    const keys = await fill(store);
    const rows = [
      ...(await measureLookUp(keyring, keys, `any of ${KEYS} keys`)),
      ...(await measureLookUp(keyring, keys.slice(0, FEW), `${FEW} of ${KEYS} keys`)),
    ];
    await store.close(); // checkpoints the WAL into the file
    const bytes = statSync(join(dataDir, 'control.sqlite')).size / KEYS;
    rows.push({ name: 'disk, a key in the control store', unit: 'bytes/key', values: [bytes] });
    return [...rows, ...(await measureRequests(dataDir, keys[0] ?? ''))];
  });
}

/** In one transaction: one by one, each would wait for the disk. */
async function fill(store: ControlStore): Promise<string[]> {
  const made = Array.from({ length: KEYS }, createSecret);
  const add = made.map(
    ({ id, hash }, i): KeyRecord => ({
      id,
      hash,
      name: `key ${i}`,
      description: '',
      scopes: ['query'],
      endpoints: ['usage.api-counts'],
      pins: { project: 'aurora' },
      createdMs: Date.now(),
      revokedMs: undefined,
      lastUsedMs: undefined,
      successor: undefined,
      origin: undefined,
    }),
  );
  await store.change([], () => ({ add, result: undefined }));
  return made.map(({ key }) => key);
}

async function measureLookUp(keyring: Keyring, keys: readonly string[], which: string): Promise<Row[]> {
  const random = createRandom('keys');
  const p50: number[] = [];
  const p99: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const times: number[] = [];
    for (let i = 0; i < CALLS; i++) {
      const key = random.pick(keys);
      const startMs = performance.now();
      await keyring.authenticate(key);
      times.push((performance.now() - startMs) * MICROS_PER_MS);
    }
    p50.push(quantile(times, 0.5));
    p99.push(quantile(times, 0.99));
  }
  const name = `authenticate, ${which}`;
  return [
    { name: `${name}: p50`, unit: 'µs', values: p50, goal: { below: 20 } },
    { name: `${name}: p99`, unit: 'µs', values: p99 },
  ];
}

/** In turn, so that other work on the machine affects both. */
async function measureRequests(dataDir: string, key: string): Promise<Row[]> {
  const stored: number[] = [];
  const environment: number[] = [];
  await withServer({ dataDir }, async (server) => {
    for (let round = 0; round < ROUNDS; round++) {
      stored.push(await rate(server, key));
      environment.push(await rate(server, KEY));
      say(`keys ${round + 1}/${ROUNDS}: ${Math.round(stored.at(-1) ?? 0)} requests/s with a stored key`);
    }
  });
  const ratios = stored.map((value, i) => value / (environment[i] ?? Number.NaN));
  return [
    { name: 'cached GET with a stored, pinned key', unit: 'requests/s', values: stored },
    { name: 'the same with the key of the environment', unit: 'requests/s', values: environment },
    { name: 'the first divided by the second', unit: '', values: ratios },
  ];
}

async function rate(server: Server, key: string): Promise<number> {
  const send = { paths: CACHED_PATHS };
  const { requests, seconds } = await load(server, {
    connections: CONNECTIONS,
    secondsMax: SECONDS,
    key,
    send,
  });
  return requests / seconds;
}
