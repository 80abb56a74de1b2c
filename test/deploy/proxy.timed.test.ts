import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { findFreePort } from '../../trial/free-port.ts';
import { endLeftProcesses, startServe } from '../support/cli.ts';
import { expectError, QUERY_PATH, request } from '../support/http.ts';
import { type Nginx, runNginx } from '../support/nginx.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
// nginx gives its workers another user where it is root.
await chmod(folder.path, 0o755);

type Replica = Awaited<ReturnType<typeof startServe>>;
let replicas: Replica[] = [];
let nginx: Nginx | undefined;

/** deploy/nginx.conf in front of the replicas, with nothing changed but addresses and where its files are. */
async function startProxy(): Promise<Nginx> {
  const port = await findFreePort();
  const prefix = join(folder.path, 'nginx');
  const shipped = await readFile('deploy/nginx.conf', 'utf8');
  const config = replicas.reduce(
    (text, replica, i) => text.replace(`tailrace-${i + 1}:4000`, new URL(replica.url).host),
    shipped.replaceAll(' /tmp/', ` ${prefix}/`).replace('listen 8080;', `listen 127.0.0.1:${port};`),
  );
  return await runNginx(prefix, { config: `daemon off;\n${config}`, port });
}

describe.skipIf(findProgram('nginx') === undefined)('the proxy of the scaled compose file', () => {
  beforeAll(async () => {
    const env = { TAILRACE_PRIVATE_KEY: PRIVATE_KEY, TAILRACE_TRUST_PROXY: '127.0.0.1' };
    const start = (name: string) => startServe({ ...env, TAILRACE_DATA_DIR: join(folder.path, name) });
    replicas = await Promise.all([start('one'), start('two')]);
    nginx = await startProxy();
  });
  afterAll(async () => {
    await nginx?.quit();
    await endLeftProcesses();
    await folder.remove();
  });

  const send = (path: string, init: RequestInit = {}) =>
    request(`http://127.0.0.1:${nginx?.port}`, path, {
      headers: { 'x-forwarded-for': '203.0.113.7' },
      ...init,
    });
  const ask = () => send(`${QUERY_PATH}/logs.all?project=p1`);
  const requestsOf = ({ output }: Replica) =>
    output()
      .stderr.split('\n')
      .filter((line) => line.includes('"route":"'))
      .map((line) => JSON.parse(line) as { ip: string });

  test('gives both replicas their share, and passes on who called, whatever the caller says', async () => {
    for (let i = 0; i < 10; i++) expect((await send('/health')).status).toBe(200);
    await vi.waitFor(() => expect(replicas.flatMap(requestsOf).length).toBeGreaterThanOrEqual(10), 10_000);
    for (const replica of replicas) {
      expect(requestsOf(replica).length).toBeGreaterThan(0);
      expect(new Set(requestsOf(replica).map(({ ip }) => ip))).toEqual(new Set(['127.0.0.1']));
    }
  });

  test('has every request answered by the other replica while one is dead, and says 503 when both are', async () => {
    const [one, two] = replicas;
    one?.child.kill('SIGKILL');
    for (let i = 0; i < 20; i++) expect((await ask()).status).toBe(200);
    two?.child.kill('SIGKILL');
    await two?.ended;
    expectError(await ask(), 'engine_unavailable');
  });
});
