import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/keys/sqlite-store.ts';
import { findCookies } from '../../src/people/cookie.ts';
import { fillSample, KEY, type Server, withServer } from '../../trial/server.ts';
import { fire, type Side } from '../cached-turns.ts';
import { inTemporaryFolder } from '../folder.ts';
import { ratioOf } from '../guard/rounds.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { CACHED_PATHS } from './ingest-load.ts';

const ROUNDS = 7;
const CONNECTIONS = 32;
// Core time is counted in steps of 10 ms.
const BURST = { amount: 40_000 };
const DAY_MS = 86_400_000;
const SECRET = `ts_0123456789ab_${'a'.repeat(43)}`;

/** A cached answer to a person with a session, beside the same answer to a key, by turns. */
export async function sessionsSection({ rows }: BenchOptions): Promise<Row[]> {
  return await inTemporaryFolder(async (dataDir) => {
    await fillSample(dataDir, rows);
    await openSession(dataDir);
    const rolesFile = join(dataDir, 'roles.yaml');
    writeFileSync(rolesFile, 'team: { groups: [team], scopes: [query] }\n');
    const env = { TAILRACE_LOG_LEVEL: 'warn', TAILRACE_ROLES_FILE: rolesFile, ...NO_PROVIDER };
    return await withServer({ dataDir, env }, measure);
  });
}

/** A provider that never responds: sessions are used without it. */
const NO_PROVIDER = {
  TAILRACE_OIDC_ISSUER: 'http://127.0.0.1:1',
  TAILRACE_OIDC_CLIENT_ID: 'bench',
  TAILRACE_OIDC_CLIENT_SECRET: 'bench',
  TAILRACE_PUBLIC_URL: 'http://127.0.0.1:1',
};

/** Stores the session of a person, as a sign-in does. */
async function openSession(dataDir: string): Promise<void> {
  const store = openSqliteStore(dataDir);
  const nowMs = Date.now();
  await store.sessions.add({
    ...{ id: SECRET.split('_')[1] ?? '', hash: hash('sha256', SECRET), owner: 'person:bench', name: 'bench' },
    ...{ claims: { groups: ['team'] }, print: '', login: 'bench', address: '127.0.0.1', agent: 'bench' },
    ...{ createdMs: nowMs, seenMs: nowMs, expiresMs: nowMs + DAY_MS },
  });
  await store.close();
}

/** A key as callers of endpoints have it; that of the service's settings is not looked up in a store. */
async function createKey(url: string): Promise<string> {
  const response = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', scopes: ['query'] }),
  });
  const { key } = (await response.json()) as { key?: string };
  if (key === undefined) throw new Error(`no key was created: ${response.status}`);
  return key;
}

async function measure({ url, pid }: Server): Promise<Row[]> {
  const path = CACHED_PATHS[0] ?? '';
  const cookie = `${findCookies(new URL(url))?.session.name}=${SECRET}`;
  const sides: readonly (readonly [name: string, side: Side])[] = [
    ['a session', { url, pid, headers: { cookie } }],
    ['a key', { url, pid, headers: { 'x-api-key': await createKey(url) } }],
    ["the service's private key", { url, pid, headers: { 'x-api-key': KEY } }],
  ];
  const load = { ...BURST, connections: CONNECTIONS };
  for (const [, side] of sides) await fire(side, path, load);
  const micros = sides.map((): number[] => []);
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [at, [, side]] of sides.entries()) micros[at]?.push((await fire(side, path, load)).coreMicros);
    const shown = sides.map(([name], at) => `${micros[at]?.at(-1)?.toFixed(1)} core µs with ${name}`);
    say(`cached GET ${round}/${ROUNDS}: ${shown.join(', ')}`);
  }
  const [session = [], key = [], own = []] = micros;
  return [
    ...sides.map(([name], at) => ({
      name: `cached GET with ${name}: main thread`,
      unit: 'core µs',
      values: micros[at] ?? [],
    })),
    {
      name: 'session / key',
      unit: 'ratio',
      values: [ratioOf({ ours: session, theirs: key })],
      goal: { below: 1.05 },
    },
    {
      name: "session / the service's private key",
      unit: 'ratio',
      values: [ratioOf({ ours: session, theirs: own })],
    },
  ];
}
