import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { copyEndpoints } from './endpoints.ts';
import { startReceiver } from './receiver-server.ts';
import { ownService, type startTestService, storeEvents } from './service.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';

/** The shipped alert failing.paths, evaluated each second, which fires from two failures on. */
export async function readEagerAlert(): Promise<string> {
  const shipped = await readFile('template/alerts/failing.paths.yaml', 'utf8');
  return `${shipped.replace(/^(every|delay|for): .*\n/gm, '')}every: 1\n`;
}

/** Stores two failures of /cart, and moves the clock to after them. */
export async function storeFailures({
  clock,
  core,
}: Pick<Awaited<ReturnType<typeof startTestService>>, 'clock' | 'core'>): Promise<void> {
  const event = {
    ...{ timestamp: clock.now * 1000, project: 'aurora', event_message: 'GET /cart 500' },
    metadata: { request: { path: '/cart' }, response: { status_code: 500 } },
  };
  await storeEvents(core, 'cloudflare.logs.prod', [event, event], clock.now);
  clock.now += 5_000;
}

/** A service with an alert that fires, and two receivers: `ops` accepts its messages, `broken` does not. */
export async function startAlertingService() {
  const folder = await copyEndpoints();
  await cp('template/endpoints', folder, { recursive: true });
  const alerts = join(folder, '../alerts');
  await mkdir(alerts);
  const eager = (await readEagerAlert()).replace('[ops]', '[ops, broken]');
  await writeFile(join(alerts, 'failing.paths.yaml'), eager);
  const ops = await startReceiver();
  const broken = await startReceiver((_, response) => response.writeHead(500).end());
  for (const { close } of [ops, broken]) afterAll(close);
  const write = (name: string, url: string) =>
    `${name}: { kind: webhook, url: "${url}", secret: ${SECRET}, private: true }\n`;
  const receiversFile = join(alerts, '../receivers');
  await writeFile(receiversFile, write('ops', ops.url) + write('broken', broken.url), { mode: 0o600 });
  const service = await ownService({
    owner: 'tailrace serve (a test)', // commands find it
    env: {
      TAILRACE_ENDPOINTS_DIR: folder,
      TAILRACE_ALERTS_DIR: alerts,
      TAILRACE_RECEIVERS_FILE: receiversFile,
      TAILRACE_EDIT_ENDPOINTS: '1',
    },
  });
  await storeFailures(service);
  return { ...service, ops };
}
