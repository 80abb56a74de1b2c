import type { LookupAddress } from 'node:dns';
import { expect, test } from 'vitest';
import { addressOf, createPublicLookup, isPublicAddress, networkOf } from '../../src/lib/network.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ...'127.0.0.1 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 0.0.0.0 100.64.0.1 224.0.0.1'.split(' '),
  ...'255.255.255.255 192.0.2.1 198.18.0.1 240.0.0.1 :: ::1 fe80::1 fc00::1 fd00:ec2::254 ff02::1'.split(' '),
  ...'::ffff:127.0.0.1 ::ffff:a9fe:a9fe 64:ff9b::7f00:1 2002:7f00:1:: 2001::1 2001:db8::1'.split(' '),
  ...['localhost', ''],
])('%s is no address of the internet', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['8.8.8.8', '::ffff:8.8.8.8', '2606:4700::1111'])('%s is an address of the internet', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test('reads the address that a URL spells, in any of its forms', () => {
  const of = (url: string) => addressOf(new URL(url));
  expect(of('https://[::1]:8080/')).toBe('::1');
  expect(['https://2130706433', 'https://0x7f.1', 'https://127.1'].map(of)).toEqual(
    Array(3).fill('127.0.0.1'),
  );
  expect(of('https://example.com')).toBeUndefined();
});

test('passes on only public addresses of a name', async () => {
  const found = (...addresses: string[]) => {
    const all = addresses.map(
      (address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }),
    );
    const lookup = createPublicLookup((_, __, callback) => callback(null, all));
    return (isAll: boolean) =>
      new Promise((resolve) =>
        lookup('a.example.com', { all: isAll }, (error, result) => resolve(error?.message ?? result)),
      );
  };
  expect(await found('127.0.0.1', '8.8.8.8')(true)).toEqual([{ address: '8.8.8.8', family: 4 }]);
  expect(await found('::1', '8.8.8.8')(false)).toBe('8.8.8.8');
  expect(await found('10.0.0.1', '::ffff:169.254.169.254')(true)).toBe('a.example.com has no public address');
});
