import { pino } from 'pino';
import { expect, test } from 'vitest';
import { get } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

/** The address that the log has of a request which says that it was passed on for another. */
async function addressWith(env: Record<string, string>, forwarded: string): Promise<unknown> {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const service = await startTestService({ env, logger: pino({ level: 'info' }, { write }) });
  await get(service.url, '/health', { 'x-forwarded-for': forwarded, 'x-forwarded-host': 'evil.example.com' });
  await service.close();
  return lines.find((one) => one['route'] === '/health')?.['ip'];
}

test('X-Forwarded-For is ignored where no proxy is trusted', async () => {
  expect(await addressWith({}, '203.0.113.7')).toBe('127.0.0.1');
});

test('X-Forwarded-For of a trusted proxy is the caller’s address', async () => {
  expect(await addressWith({ TAILRACE_TRUST_PROXY: '127.0.0.0/8' }, '203.0.113.7')).toBe('203.0.113.7');
});

test('what a caller put into X-Forwarded-For itself is not believed, only what the proxies added', async () => {
  const env = { TAILRACE_TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' };
  expect(await addressWith(env, '1.1.1.1, 203.0.113.7, 10.1.2.3')).toBe('203.0.113.7');
});

test('X-Forwarded-For of anybody but the trusted proxies is ignored', async () => {
  expect(await addressWith({ TAILRACE_TRUST_PROXY: '10.0.0.0/8' }, '203.0.113.7')).toBe('127.0.0.1');
});
