import { isIP } from 'node:net';

/**
 * Origins as browsers send them, joined by commas; `*` stands for all and then stands alone.
 *
 * @throws Error whose message says what would be right
 */
export function parseOrigins(text: string): string {
  const origins = split(text);
  if (origins.length === 1 && origins[0] === '*') return '*';
  for (const origin of origins) {
    // A browser sends the origin in this one spelling, and it is compared as text: anything else would never match.
    if (!/^https?:\/\/[^*]+$/.test(origin) || urlOf(origin)?.origin !== origin)
      throw new Error(
        'must be origins such as https://app.example.com joined by commas, lower case and without a path, or * alone',
      );
  }
  return origins.join(',');
}

/**
 * Addresses and networks of proxies, joined by commas.
 *
 * @throws Error whose message says what would be right
 */
export function parseProxies(text: string): string {
  const proxies = split(text);
  if (proxies.every(isNetwork)) return proxies.join(',');
  throw new Error(
    'must be the addresses of your proxies, such as 127.0.0.1, or their networks, such as 10.0.0.0/8, joined by commas',
  );
}

function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  // A network of 0 bits is everybody, who could then name any address as his own.
  return (
    version !== 0 && (bits === undefined || (Number(bits) > 0 && Number(bits) <= (version === 4 ? 32 : 128)))
  );
}

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function split(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}
