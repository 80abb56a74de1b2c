import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Attack, prepareAttacks } from '../../trial/attack/attack.ts';
import { cachedPath } from '../../trial/attack/bystander.ts';
import { createKey, type Target, type TrialResult, tryAttack } from '../../trial/attack/trial.ts';
import { fillSample, findChildren, KEY, type Server, withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../data.ts';
import { type BenchOptions, type Row, say } from '../report.ts';

const ROWS_MAX = 100_000;
const QUERY_TIMEOUT_MS = 3_000;
const MIB = 1024 * 1024;
const ENV = {
  TAILRACE_QUERY_TIMEOUT_MS: String(QUERY_TIMEOUT_MS),
  TAILRACE_ENGINE_MEMORY_BYTES_MAX: String(1536 * MIB),
};
// Six missed heartbeats, or the deadline of a query plus two seconds; then one heartbeat of tolerance.
const NOTICED_MS_MAX = 8_000;
const ANSWERED_MS_MAX = 3_000;
const WAIT_MS_MAX = 50;
const LOGS_OF = 'aurora';
// The first attack of a key passes, and the one after its first rejection; the second rejection is longer than attackers wait.
const RESTARTS_MAX = 2;

/** Latencies of one key while another attacks the engine, each attack `times` in a row. */
export async function attacksSection({ rows, times, only }: BenchOptions): Promise<Row[]> {
  return await inTemporaryFolder(async (dataDir) => {
    const folder = join(dataDir, 'endpoints');
    await mkdir(folder);
    await cp('endpoints', folder, { recursive: true });
    const isChosen = (short: string) => only.length === 0 || only.includes(short);
    const attacks = await prepareAttacks(folder, dataDir, isChosen);
    await fillSample(dataDir, Math.min(rows, ROWS_MAX));
    const env = { ...ENV, TAILRACE_ENDPOINTS_DIR: folder };
    return await withServer({ dataDir, env }, (server) => tryAll(server, attacks, times));
  });
}

async function tryAll(server: Server, attacks: readonly Attack[], times: number): Promise<Row[]> {
  const { url } = server;
  const createAttacker = () => createKey(url, KEY, { name: 'attacker', scopes: ['query'] });
  const target: Target = {
    url,
    findEngine: () => findChildren(server.pid)[0],
    keys: {
      attacker: await createAttacker(),
      other: await createKey(url, KEY, { name: 'other', scopes: ['query', 'ingest'] }),
      manage: KEY,
    },
    logsOf: LOGS_OF,
    noticedMsMax: NOTICED_MS_MAX,
  };
  const warm = await fetch(`${url}${cachedPath(LOGS_OF)}`, { headers: { 'x-api-key': KEY } });
  if (warm.status !== 200) throw new Error(`${cachedPath(LOGS_OF)} was answered ${warm.status}`);
  const rows: Row[] = [];
  for (const attack of attacks) {
    say(`${attack.name}, ${times} times`);
    // With another key each time: the one before is rejected for longer and longer.
    const keys = { ...target.keys, attacker: await createAttacker() };
    const result = await tryAttack({ ...target, keys }, attack, times);
    say(`  the attacker saw ${JSON.stringify(result.statuses)}; ${result.restarts} restarts`);
    rows.push(...toRows(attack, result));
  }
  return rows;
}

function toRows({ name, how }: Attack, result: TrialResult): Row[] {
  const isOfTokens = 'hasTokens' in how && how.hasTokens;
  const isOfLoop = 'paths' in how; // others burden the machine
  const row = (what: string, unit: string, value: number, below?: number | false): Row => ({
    ...{ name: `${name}: ${what}`, unit, values: [value] },
    ...(typeof below === 'number' && { goal: { below } }),
  });
  const latest = (what: string, times: readonly number[]) =>
    row(`first ${what} after a restart, the latest`, 'ms', Math.max(0, ...times), ANSWERED_MS_MAX);
  return [
    row('longest wait for a cached answer', 'ms', result.cachedMsMax, isOfLoop && WAIT_MS_MAX),
    row('longest wait for /health', 'ms', result.healthMsMax, isOfLoop && WAIT_MS_MAX),
    row('restarts', 'restarts', result.restarts, isOfTokens && RESTARTS_MAX + 1),
    latest('answer to a query', result.queryMs),
    latest('events acknowledged', result.ingestMs),
    row('cached answers that failed', '', result.cachedFailed, 1),
    row('failures outside of outages', '', result.failedOutside.length, 1),
    row('acknowledged events lost', '', result.lost, 1),
    row('rows stored twice', '', result.doubled, 1),
    row('not ready at the end', '', Number(!result.isReady), 1),
  ];
}
