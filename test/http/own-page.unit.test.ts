import { expect, test } from 'vitest';
import { findOwnPage } from '../../src/http/plugins/auth.ts';

const PUBLIC_URL = 'https://logs.example.com';
const LOCAL = { host: 'localhost:4000', origin: 'http://localhost:4000' };
const OWN = { host: 'logs.example.com', origin: PUBLIC_URL };

/** @returns the cookie of the page's session, or why it is not a page of this service */
function find(headers: Readonly<Record<string, string>>, publicUrl: string): string {
  try {
    const sent = { 'x-tailrace-console': '1', 'sec-fetch-site': 'same-origin', ...headers };
    return findOwnPage({ headers: sent }, publicUrl).session;
  } catch (error) {
    return String(error);
  }
}

test.each([
  ['of TAILRACE_PUBLIC_URL', OWN, `${PUBLIC_URL}/console`],
  ['of TAILRACE_PUBLIC_URL, whatever a proxy makes of the host', { ...OWN, host: '10.0.0.7' }, PUBLIC_URL],
  ['of the host over HTTPS', OWN, ''],
])('a page %s is one of this service', (_, headers, publicUrl) => {
  expect(find(headers, publicUrl)).toBe('__Host-tailrace');
});

test('a page of this machine is one of this service, even over plain HTTP', () => {
  expect(find(LOCAL, '')).toBe('tailrace-4000');
  expect(find(LOCAL, LOCAL.origin)).toBe('tailrace-4000');
});

const evil = { origin: 'https://evil.example', host: 'logs.example.com' };
const OTHER = 'must come by HTTPS, or on this machine, from a page of ';
const NO_ORIGIN = 'needs the Origin of a page of this service';
const NO_HEADER = 'needs the header X-Tailrace-Console: 1';
test.each([
  [
    'of a host that only a header of proxies names',
    { ...evil, 'x-forwarded-host': 'evil.example' },
    '',
    OTHER,
  ],
  [
    'of the host, if TAILRACE_PUBLIC_URL is another one',
    { ...evil, host: 'evil.example' },
    PUBLIC_URL,
    OTHER,
  ],
  ['of this machine, if TAILRACE_PUBLIC_URL is another one', LOCAL, PUBLIC_URL, OTHER],
  ['over plain HTTP', { ...OWN, origin: 'http://logs.example.com' }, '', OTHER],
  ['over plain HTTP that is TAILRACE_PUBLIC_URL', { ...LOCAL, origin: 'http://a.b' }, 'http://a.b', OTHER],
  ['of another scheme', { ...LOCAL, origin: 'ftp://localhost:4000' }, '', OTHER],
  ['of another port', { ...OWN, origin: `${PUBLIC_URL}:8443` }, PUBLIC_URL, OTHER],
  ['without a host', { origin: 'https://' }, '', NO_ORIGIN],
  ['without an origin', { host: OWN.host }, '', NO_ORIGIN],
  ['of no origin that it names', { ...OWN, origin: 'null' }, '', NO_ORIGIN],
  ['of another origin that begins so', { ...OWN, origin: `${PUBLIC_URL}.evil.example` }, '', OTHER],
  [
    'of the same site',
    { ...OWN, 'sec-fetch-site': 'same-site' },
    '',
    'must come from a page of this service',
  ],
  ['that sends no header of its own', { ...OWN, 'x-tailrace-console': '' }, '', NO_HEADER],
])('a page %s is not one of this service', (_, headers, publicUrl, why) => {
  expect(find(headers, publicUrl)).toContain(`a request with a session ${why}`);
});
