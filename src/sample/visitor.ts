import { createRandom, type Random } from '../lib/random.ts';

/** Who sends requests: an address, a program, and what the gateway knows of both. */
export interface Visitor {
  readonly address: string;
  readonly userAgent: string;
  /** The library that calls; a browser cannot send it with a websocket. */
  readonly clientInfo: string | null;
  readonly country: string;
  readonly colo: string;
  readonly cf: object;
}

const PLACES = [
  {
    colo: 'FRA',
    city: 'Frankfurt am Main',
    country: 'DE',
    continent: 'EU',
    regionCode: 'HE',
    timezone: 'Europe/Berlin',
  },
  { colo: 'CDG', city: 'Paris', country: 'FR', continent: 'EU', regionCode: 'IDF', timezone: 'Europe/Paris' },
  {
    colo: 'IAD',
    city: 'Ashburn',
    country: 'US',
    continent: 'NA',
    regionCode: 'VA',
    timezone: 'America/New_York',
  },
  {
    colo: 'SJC',
    city: 'San José',
    country: 'US',
    continent: 'NA',
    regionCode: 'CA',
    timezone: 'America/Los_Angeles',
  },
  {
    colo: 'GRU',
    city: 'São Paulo',
    country: 'BR',
    continent: 'SA',
    regionCode: 'SP',
    timezone: 'America/Sao_Paulo',
  },
  { colo: 'NRT', city: 'Tokyo', country: 'JP', continent: 'AS', regionCode: '13', timezone: 'Asia/Tokyo' },
];

const PROGRAMS = [
  {
    userAgent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
    clientInfo: 'supabase-js-web/2.74.0',
  },
  {
    userAgent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
    clientInfo: 'supabase-js-web/2.58.0',
  },
  { userAgent: 'node', clientInfo: 'supabase-js-node/2.74.0' },
  { userAgent: 'Dart/3.9 (dart:io)', clientInfo: 'supabase-flutter/2.10.0' },
  { userAgent: 'python-httpx/0.28.1', clientInfo: 'supabase-py/2.18.1' },
  { userAgent: 'curl/8.14.1', clientInfo: null },
];

// Blocks that are kept for documentation (RFC 5737), so that no sample names somebody's address.
const NETWORKS = ['192.0.2', '198.51.100', '203.0.113'];

/** The same visitors in every sample: they come back, as real ones do. */
export const VISITORS: readonly Visitor[] = createVisitors(600, createRandom('visitors'));

/** Those of them that look at pages. */
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
        asn: random.whole(64_496, 64_511), // for documentation (RFC 5398)
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
