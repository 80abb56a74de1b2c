import { isIPv6 } from 'node:net';

const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * Returns the part of an address that a sender cannot choose: an IPv4 address as it is, the first 64 bits of an IPv6
 * address, since one host owns the other 64.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address; // `::ffff:192.0.2.1` is an IPv4 address
  const [left = [], right = []] = address.split('::').map((side) => (side === '' ? [] : side.split(':')));
  const zeros = Array.from({ length: Math.max(0, GROUPS - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right].slice(0, NETWORK_GROUPS).join(':');
}
