import { MICROS_PER_SECOND, type Micros } from '../lib/instant.ts';
import { createRandom, createWeighted, type Random } from '../lib/random.ts';

/** The content of a sample. The same options, including `end`, always give the same events. */
export interface SampleOptions {
  /** Events of all sources together. */
  readonly rows: number;
  readonly seed: number;
  /** Days that the events reach back. */
  readonly days: number;
  readonly projects: number;
  /** The instant up to which there are events. */
  readonly end: Micros;
}

/** The planted incident: so long before the end of a sample, a deploy of this function makes it slow and fail. */
export const INCIDENT = { name: 'send-receipt', seconds: 40 * 60, failing: 0.6, medianMs: 4_000 };

/** A request to a project. Each source has those of some areas: the gateway all, a server its own. */
export interface SampleRequest {
  readonly area: string;
  readonly at: Micros;
  readonly project: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly visitor: (typeof VISITORS)[number];
  readonly host: string;
  /** `2026-11-20T07:00:00.123Z` */
  readonly time: string;
  /** Metadata of a function that it calls. */
  readonly called: object;
  /** Whether it calls the function of the incident after its deploy. */
  readonly isBroken: boolean;
}

type Route = readonly [area: string, method: string, path: string, status: number, medianMs: number];

/** Areas: functions, reads and writes of tables, auth, storage and a websocket. `{}` stands for a UUID. */
const ROUTES: readonly Route[] = [
  ['f', 'POST', '/functions/v1/stripe-webhook', 200, 85],
  ['f', 'GET', '/functions/v1/search', 200, 42],
  ['f', 'POST', '/functions/v1/resize-image', 201, 240],
  ['f', 'POST', `/functions/v1/${INCIDENT.name}`, 200, 130],
  ['r', 'GET', '/rest/v1/orders', 206, 24],
  ['r', 'GET', '/rest/v1/products', 200, 22],
  ['w', 'POST', '/rest/v1/order_items', 201, 28],
  ['w', 'PATCH', '/rest/v1/profiles', 204, 26],
  ['a', 'POST', '/auth/v1/token', 200, 48],
  ['a', 'GET', '/auth/v1/user', 200, 12],
  ['s', 'GET', '/storage/v1/object/public/avatars/{}.webp', 200, 65],
  ['s', 'POST', '/storage/v1/object/uploads/{}.webp', 200, 210],
  ['t', 'GET', '/realtime/v1/websocket', 101, 9],
];
const ROUTES_OF = Map.groupBy(ROUTES, ([area]) => area);
/** The areas of each twenty requests. */
export const AREAS = [...'frasrfwrasfrtrfsrafw'];

// None is part of another or of a path: usage.api-counts finds a project inside the URL.
const PROJECTS = 'aurora basalt cobalt dahlia ember fjord glacier harbor indigo juniper kestrel lagoon'.split(
  ' ',
);
const REJECTED = [400, 401, 403, 404, 429];
const FAILED = [500, 502, 503, 504];

// An address reserved for documentation (RFC 5737), and a network (RFC 5398): no sample contains a real one.
const VISITORS = Array.from({ length: 240 }, (_, i) => ({
  address: `192.0.2.${i + 1}`,
  userAgent: `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/${130 + (i % 12)}.0.0.0`,
  clientInfo: `supabase-js-web/2.${50 + (i % 25)}.0`,
  country: ['DE', 'US', 'BR', 'JP'][i % 4],
  colo: ['FRA', 'IAD', 'GRU', 'NRT'][i % 4],
  asn: 64_496 + (i % 16),
}));

/** Generates requests in order of time. Lazy: memory does not grow with their number. */
export function* sampleRequests(
  count: number,
  { seed, days, projects, end }: Omit<SampleOptions, 'rows'>,
): Generator<SampleRequest> {
  // `end` is part of the seed, so that a second sample differs.
  const random = createRandom(`${seed}/requests/${end}`);
  const deployMicros = end - INCIDENT.seconds * MICROS_PER_SECOND;
  const pickProject = createWeighted(
    // Zipf's law: the second has half the traffic of the first.
    Array.from({ length: projects }, (_, i) => [1 / (i + 1), PROJECTS[i] ?? `site-${i}`] as const),
  );
  let i = 0;
  for (const at of spreadInstants(count, { days, end, random })) {
    const area = AREAS[i++ % AREAS.length] ?? '';
    const [, method, path, usual, medianMs] = random.pick(ROUTES_OF.get(area) ?? []);
    const project = pickProject(random);
    const isBroken = path.endsWith(INCIDENT.name) && at >= deployMicros;
    const version = isBroken ? '8' : '7';
    const function_id = `${path.slice(path.lastIndexOf('/') + 1)}-${project}`;
    yield {
      ...{ area, at, project, method, isBroken, host: `${project}.example.com` },
      called: { function_id, deployment_id: `${function_id}_${version}`, project_ref: project, version },
      time: new Date(at / 1000).toISOString(),
      path: path.replace('{}', random.uuid),
      status: pickStatus(random, usual, isBroken),
      ms: Math.round(random.logNormal(isBroken ? INCIDENT.medianMs : medianMs, 0.6) * 1_000) / 1_000,
      visitor: random.pick(VISITORS),
    };
  }
}

function pickStatus(random: Random, usual: number, isBroken: boolean): number {
  if (isBroken && random.chance(INCIDENT.failing)) return 500;
  const luck = random.next();
  if (luck < 0.002) return random.pick(FAILED);
  return luck < 0.025 ? random.pick(REJECTED) : usual;
}

const SLOT_MICROS = 300 * MICROS_PER_SECOND;
const SLOTS_OF_DAY = 288;
// The last hour, and how many times the traffic of noon it has: short ranges show something at any time of day.
const RUSH = { slots: 12, level: 4 };

/** Instants in order: many by day, few by night. The last is within five minutes of `end`. */
function* spreadInstants(
  count: number,
  { days, end, random }: { readonly days: number; readonly end: Micros; readonly random: Random },
): Generator<Micros> {
  const slots = days * SLOTS_OF_DAY;
  const startOf = (slot: number) => end - (slots - slot) * SLOT_MICROS;
  const weights = Float64Array.from({ length: slots }, (_, slot) => {
    const day = startOf(slot) / (SLOTS_OF_DAY * SLOT_MICROS);
    return slot >= slots - RUSH.slots ? RUSH.level : 0.6 - 0.4 * Math.cos(2 * Math.PI * (day - 1 / 12));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let [passed, placed] = [0, 0];
  for (const [slot, weight] of weights.entries()) {
    passed += weight; // summed as `total` is, so the last share is exactly 1
    const inSlot = Math.floor((passed / total) * count) - placed;
    // Rounded up: the beginning may be the instant at which retention ends.
    for (let i = 1; i <= inSlot; i++)
      yield startOf(slot) + Math.ceil(((i - random.next()) / inSlot) * SLOT_MICROS);
    placed += inSlot;
  }
}
