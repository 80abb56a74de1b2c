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
test.each([
  ['of a host that only a header of proxies names', { ...evil, 'x-forwarded-host': 'evil.example' }, ''],
  ['of the host, if TAILRACE_PUBLIC_URL is another one', { ...evil, host: 'evil.example' }, PUBLIC_URL],
  ['of this machine, if TAILRACE_PUBLIC_URL is another one', LOCAL, PUBLIC_URL],
  ['over plain HTTP', { ...OWN, origin: 'http://logs.example.com' }, ''],
  ['over plain HTTP that is TAILRACE_PUBLIC_URL', { ...LOCAL, origin: 'http://a.b' }, 'http://a.b'],
  ['of another scheme', { ...LOCAL, origin: 'ftp://localhost:4000' }, ''],
  ['of another port', { ...OWN, origin: `${PUBLIC_URL}:8443` }, PUBLIC_URL],
  ['without a host', { origin: 'https://' }, ''],
  ['without an origin', { host: OWN.host }, ''],
  ['of no origin that it names', { ...OWN, origin: 'null' }, ''],
  ['of another origin that begins so', { ...OWN, origin: `${PUBLIC_URL}.evil.example` }, ''],
  ['of the same site', { ...OWN, 'sec-fetch-site': 'same-site' }, ''],
  ['that sends no header of its own', { ...OWN, 'x-tailrace-console': '' }, ''],
])('a page %s is not one of this service', (_, headers, publicUrl) => {
  expect(find(headers, publicUrl)).toMatch(/forbidden|Origin|X-Tailrace-Console|must come .*from a page of/);
});
