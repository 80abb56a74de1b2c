import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { get } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

/** Returns the address that the log has of a request with X-Forwarded-For. */
async function startWith(TAILRACE_TRUST_PROXY: string) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const logger = pino({ level: 'info' }, { write });
  const service = await startTestService({ env: { TAILRACE_TRUST_PROXY }, logger });
  afterAll(service.close);
  return async (forwarded: string) => {
    await get(service.url, '/health', { 'x-forwarded-for': forwarded });
    await expect.poll(() => lines.findLast((one) => one['route'] === '/health')).toBeDefined();
    return lines.findLast((one) => one['route'] === '/health')?.['ip'];
  };
}

test('X-Forwarded-For of trusted proxies is the caller’s address, without what the caller sent itself', async () => {
  const addressOf = await startWith('127.0.0.1, 10.0.0.0/8');
  expect(await addressOf('1.1.1.1, 203.0.113.7, 10.1.2.3')).toBe('203.0.113.7');
});

test('X-Forwarded-For of anybody else is ignored', async () => {
  const addressOf = await startWith('10.0.0.0/8');
  expect(await addressOf('203.0.113.7')).toBe('127.0.0.1');
});
