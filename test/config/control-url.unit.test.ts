import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { faultsOf } from '../support/config.ts';

const SECRET = { TAILRACE_TOKEN_SECRET: 'x'.repeat(44) };
const faults = (url: string) => faultsOf({ TAILRACE_CONTROL_URL: url, ...SECRET });

describe('the address of the control store', () => {
  test.each([
    'postgresql://postgres.example.com/tailrace',
    'postgresql://user@[::1]/tailrace?sslmode=verify-full&sslrootcert=/etc/ca.pem',
  ])('may be %s', (url) => {
    expect(parseConfig({ TAILRACE_CONTROL_URL: url, ...SECRET }).controlUrl).toBe(url);
  });

  test.each([
    ['mysql://user:s3cret@h/tailrace', 'must begin with postgresql://'],
    ['postgresql://user:s3cret%@h/tailrace', 'must have a user and password whose % are written as %25'],
    ['postgresql://user:s3cret@h/tailrace?sslmode=require', 'one of disable, no-verify, verify-full'],
  ])('is not %s', (url, message) => {
    expect(faults(url)).toEqual([expect.stringContaining(message)]);
    expect(faults(url)[0]).toMatch(/^TAILRACE_CONTROL_URL: /);
    expect(faults(url)[0]).not.toContain('s3cret');
  });
});
