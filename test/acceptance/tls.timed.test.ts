import { get as httpsGet } from 'node:https';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
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

/** A TLS connection of its own; whose certificate it is cannot be checked, as nobody signed it. */
function dial(url: string, options: object = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false, ...options });
    socket.once('secureConnect', () => resolve(socket)).once('error', reject);
  });
}

function health(url: string): Promise<{ status: number; hsts: unknown }> {
  return new Promise((resolve, reject) => {
    httpsGet(`${url}/health`, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, hsts: response.headers['strict-transport-security'] });
    }).once('error', reject);
  });
}

test('with certificate and key the service speaks HTTPS, says so, and takes a load over it', async () => {
  const service = await startServe(env);
  expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(service.output().stdout).toContain(`"${service.url}/api/endpoints/query/`);
  expect(await health(service.url)).toEqual({ status: 200, hsts: 'max-age=15552000' });
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
