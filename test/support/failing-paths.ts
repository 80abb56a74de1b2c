import { readFile } from 'node:fs/promises';
import { type startTestService, storeEvents } from './service.ts';

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
