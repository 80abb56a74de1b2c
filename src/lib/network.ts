import { isUtf8 } from 'node:buffer';
import type { LookupAddress } from 'node:dns';
import dns from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { TailraceError } from '../errors.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Returns the text of a header (`name`: in lower case), which senders write as UTF-8; `undefined` if missing or empty.
 * @throws TailraceError `invalid_request` if it is not UTF-8: a guess could name another project or caller
 */
export function headerOf({ headers }: { readonly headers: Headers }, name: string): string | undefined {
  const value = headers[name];
  if (typeof value !== 'string' || value === '') return undefined;
  if (!NOT_ASCII.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1'); // as Node has read them
  if (isUtf8(bytes)) return bytes.toString();
  const message = `the header ${name} is not UTF-8: encode it so; many clients send ISO 8859-1 by themselves`;
  throw new TailraceError('invalid_request', message);
}

const NOT_ASCII = /[\x80-\xff]/;

/** Writes a text for a header, which `fetch` sends as a byte a character. */
export function writeHeader(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** Returns the part of an address that a sender cannot choose: all of IPv4, 64 bits of IPv6, whose host owns the others. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address; // `::ffff:192.0.2.1` is an IPv4 address
  const [left = [], right = []] = address.split('::').map((side) => (side === '' ? [] : side.split(':')));
  const zeros = Array.from({ length: Math.max(0, GROUPS - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right].slice(0, NETWORK_GROUPS).join(':');
}

/**
 * Whether an IP address belongs to a host of the internet: not loopback, private, link-local (cloud metadata),
 * carrier-grade NAT, multicast, or a range that translates to another address.
 */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return isIP(address) === 4 && !RESERVED.check(address);
  if (address.includes('%')) return false; // a zone: link-local
  return UNICAST.check(address, 'ipv6') && !RESERVED.check(address, 'ipv6');
}

function createBlockList(subnets: string): BlockList {
  const list = new BlockList();
  for (const subnet of subnets.split(/\s+/)) {
    const [network = '', bits] = subnet.split('/');
    list.addSubnet(network, Number(bits), isIPv6(network) ? 'ipv6' : 'ipv4');
  }
  return list;
}

// IPv6 addresses of hosts, and IPv4 addresses written as IPv6.
const UNICAST = createBlockList('2000::/3 ::ffff:0:0/96');

// IANA's registries of special-purpose addresses; those of IPv4 count as IPv6, too.
const RESERVED = createBlockList(
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12
   192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16
   192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
   2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20`,
);

/** Returns the address that a URL's host spells, such as `[::1]`; `undefined` for a name. */
export function addressOf({ hostname }: URL): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(address) === 0 ? undefined : address;
}

/** Resolves like `dns.lookup` with `all`. */
export type Resolve = (
  hostname: string,
  options: dns.LookupAllOptions,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Returns a `lookup` for sockets that passes on only public addresses. The socket connects to one of these, so no
 * second resolution can return another one. Sockets do not look up addresses: check these by `isPublicAddress`.
 */
export function createPublicLookup(resolve: Resolve = dns.lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first, ...others] = addresses?.filter(({ address }) => isPublicAddress(address)) ?? [];
      if (error !== null) callback(error, '');
      else if (first === undefined) callback(new Error(`${hostname} has no public address`), '');
      else if (options.all === true) callback(null, [first, ...others]);
      else callback(null, first.address, first.family);
    });
  };
}
