import { expect, test } from 'vitest';
import { judgeAudit } from '../../scripts/audit.js';

const answer = (counts: Record<string, number>, vulnerabilities: object = {}) =>
  JSON.stringify({ auditReportVersion: 2, vulnerabilities, metadata: { vulnerabilities: counts } });

test('an audit without a weakness of high severity passes, whatever there is of lesser', () => {
  expect(judgeAudit(answer({ low: 0, moderate: 0, high: 0, critical: 0, total: 0 })).state).toBe('passed');
  expect(judgeAudit(answer({ low: 2, moderate: 1, high: 0, critical: 0, total: 3 }))).toEqual({
    state: 'passed',
    message: 'no weakness of high severity; 3 of lesser',
  });
});

test('one of high or critical severity fails it, and is named', () => {
  const vulnerabilities = {
    left: { name: 'left', severity: 'high' },
    right: { name: 'right', severity: 'low' },
    top: { name: 'top', severity: 'critical' },
  };
  expect(judgeAudit(answer({ low: 1, high: 1, critical: 1, total: 3 }, vulnerabilities))).toEqual({
    state: 'failed',
    message: '2 of high or critical severity: left (high), top (critical)',
  });
});

test.each([
  [
    'refuses audits',
    '{"message":"405 Method Not Allowed - POST /advisories/bulk","statusCode":405}',
    /405 Method/,
  ],
  ['has no such path', '{"error":{"code":"E404","summary":"404 Not Found\\nmore"}}', /: 404 Not Found$/],
  ['answers with something else', '<html>', /it gave no audit/],
  ['answers with nothing', '', /it gave no audit/],
])('it is skipped with the reason where the registry %s', (_, stdout, message) => {
  expect(judgeAudit(stdout)).toEqual({ state: 'skipped', message: expect.stringMatching(message) });
});

test('it is skipped where the registry is not reached in time', () => {
  expect(judgeAudit('{"meta', 'no answer within 60 s')).toEqual({
    state: 'skipped',
    message: 'no answer within 60 s',
  });
});
