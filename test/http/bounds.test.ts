import { afterAll, expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
afterAll(service.close);

test.each([
  ['whose repetitions multiply', '(?:(.*)(.*)(.*)(.*)(.*)){1000}'],
  ['whose classes are large', '(?:\\pL\\PN{0,9}){30}~'],
])('a pattern %s is refused before it can hold a reader', async (_, project) => {
  const { status, body } = await service.call('usage.api-counts', { project, interval: 'daily' });
  expect([status, body.error.code]).toEqual([400, 'invalid_parameter']);
  expect(body.error.message).toMatch(/^project is too large a pattern/);
});
