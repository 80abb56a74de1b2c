import { createRandom, type Random } from '../lib/random.ts';

/** The sender of requests: an address, a program, and what the gateway knows about both. */
export interface Visitor {
  readonly address: string;
  readonly userAgent: string;
  /** The client library; a browser cannot send it with a websocket. */
  readonly clientInfo: string | null;
  readonly country: string;
  readonly colo: string;
  readonly cf: object;
}

const PLACES = (
  [
    ['FRA', 'Frankfurt am Main', 'DE', 'EU', 'HE', 'Europe/Berlin'],
    ['CDG', 'Paris', 'FR', 'EU', 'IDF', 'Europe/Paris'],
    ['IAD', 'Ashburn', 'US', 'NA', 'VA', 'America/New_York'],
    ['SJC', 'San José', 'US', 'NA', 'CA', 'America/Los_Angeles'],
    ['GRU', 'São Paulo', 'BR', 'SA', 'SP', 'America/Sao_Paulo'],
    ['NRT', 'Tokyo', 'JP', 'AS', '13', 'Asia/Tokyo'],
  ] as const
).map(([colo, city, country, continent, regionCode, timezone]) => {
  return { colo, city, country, continent, regionCode, timezone };
});

const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)';
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const PROGRAMS = [
  { userAgent: `${MAC} Chrome/141.0.0.0 Safari/537.36`, clientInfo: 'supabase-js-web/2.74.0' },
  { userAgent: `${PHONE} Version/18.6 Mobile/15E148 Safari/604.1`, clientInfo: 'supabase-js-web/2.58.0' },
  { userAgent: 'node', clientInfo: 'supabase-js-node/2.74.0' },
  { userAgent: 'Dart/3.9 (dart:io)', clientInfo: 'supabase-flutter/2.10.0' },
  { userAgent: 'python-httpx/0.28.1', clientInfo: 'supabase-py/2.18.1' },
  { userAgent: 'curl/8.14.1', clientInfo: null },
];

// Networks reserved for documentation (RFC 5737): no sample contains a real address.
const NETWORKS = ['192.0.2', '198.51.100', '203.0.113'];

/** Creates the same visitors in every sample: they come back, as real ones do. */
export const VISITORS: readonly Visitor[] = createVisitors(600, createRandom('visitors'));

/** Visitors with a browser. */
export const BROWSERS = VISITORS.filter(({ userAgent }) => userAgent.startsWith('Mozilla/'));

function createVisitors(count: number, random: Random): Visitor[] {
  return Array.from({ length: count }, () => {
    const { colo, ...place } = random.pick(PLACES);
    const bot = random.chance(0.04);
    return {
      address: `${random.pick(NETWORKS)}.${random.whole(1, 254)}`,
      ...random.pick(PROGRAMS),
      country: place.country,
      colo,
      cf: {
        asOrganization: random.pick(['Example Telecom', 'Example Broadband', 'Example Cloud']),
        asn: random.whole(64_496, 64_511), // reserved for documentation (RFC 5398)
        botManagement: {
          detectionIds: [],
          score: bot ? random.whole(1, 29) : random.whole(60, 99),
          verifiedBot: bot,
        },
        ...place,
        clientTcpRtt: random.whole(4, 180),
        colo,
        httpProtocol: random.pick(['HTTP/2', 'HTTP/3']),
        isEUCountry: place.continent === 'EU' ? '1' : null,
        tlsCipher: 'AEAD-AES128-GCM-SHA256',
        tlsVersion: 'TLSv1.3',
      },
    };
  });
}
