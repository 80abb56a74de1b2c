import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../scripts/programs.js';
import { findFreePort } from '../../trial/free-port.ts';
import { until } from '../../trial/until.ts';

interface ListedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly status: { readonly state: string };
}

export interface TestAlertmanager {
  readonly url: string;
  /** What fires. */
  alerts(): Promise<ListedAlert[]>;
  /** Ends at once; what was sent is forgotten. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** For `test.skipIf`: see scripts/programs.js. */
export const hasAlertmanager = findProgram('alertmanager') !== undefined;

/** Debian's Prometheus Alertmanager on a free port of 127.0.0.1, which tells nobody. */
export async function startAlertmanager(): Promise<TestAlertmanager> {
  const folder = await mkdtemp(join(tmpdir(), 'tailrace-alertmanager-'));
  const config = join(folder, 'alertmanager.yml');
  await writeFile(config, 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n');
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const args = [
    ...[`--config.file=${config}`, `--storage.path=${folder}`],
    ...[`--web.listen-address=127.0.0.1:${port}`, '--cluster.listen-address='],
  ];
  let child: ChildProcess | undefined;

  async function alerts(): Promise<ListedAlert[]> {
    const response = await fetch(`${url}/api/v2/alerts`);
    if (!response.ok) throw new Error(`${response.status}`);
    return (await response.json()) as ListedAlert[]; // of the API's own schema
  }

  async function start(): Promise<void> {
    child = spawn(findProgram('alertmanager') ?? '', args, { stdio: 'ignore' });
    await until(alerts, 30_000);
  }

  async function kill(): Promise<void> {
    if (child === undefined) return;
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    child = undefined;
    await ended;
  }

  await start();
  return {
    url,
    alerts,
    kill,
    start,
    async close() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
