import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { endLeftProcesses, runCli, startServe } from '../support/cli.ts';
import { ownFolder, PRIVATE_KEY } from '../support/service.ts';

// Made for these tests alone, for 127.0.0.1 and localhost.
const PAIRS = join(import.meta.dirname, '../../trial/tls');
const folder = await ownFolder();
const cert = join(PAIRS, 'one.cert.pem');
const env = {
  TAILRACE_DATA_DIR: join(folder.path, 'data'),
  TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
  TAILRACE_TLS_CERT_FILE: cert,
  TAILRACE_TLS_KEY_FILE: join(PAIRS, 'one.key.pem'),
};
afterEach(endLeftProcesses);

setDefaultCACertificates([readFileSync(cert, 'utf8')]); // or nobody would trust it

/** A TLS connection of its own. */
function dial(url: string, options: object = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const socket = connect({ host: '127.0.0.1', port: Number(port), ...options });
    socket.once('secureConnect', () => resolve(socket)).once('error', reject);
  });
}

test('with certificate and key the service speaks HTTPS, says so, and takes a load over it', async () => {
  const service = await startServe(env);
  expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(service.output().stdout).toContain(`"${service.url}/api/endpoints/query/`);
  const { status, headers } = await fetch(`${service.url}/health`);
  expect([status, headers.get('strict-transport-security')]).toEqual([200, 'max-age=15552000']);
  await expect(fetch(service.url.replace('https:', 'http:'))).rejects.toThrow();
  await expect(
    dial(service.url, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  ).rejects.toThrow();
  const load = ['load', 'postgres.logs', '-', '--url', service.url];
  const sender = { TAILRACE_KEY: PRIVATE_KEY, NODE_EXTRA_CA_CERTS: cert };
  const { code, stdout } = await runCli(load, { env: sender, stdin: '{"event_message":"x"}\n' });
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 event,')]);
  const idle = await dial(service.url); // which must not delay the end
  const begun = performance.now();
  expect((await service.stop()).code).toBe(0);
  expect(performance.now() - begun).toBeLessThan(5_000);
  idle.destroy();
});
