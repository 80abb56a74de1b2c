import type { createRandom } from '../../src/lib/random.ts';

type Random = ReturnType<typeof createRandom>;

const words = (text: string) => text.split(' ');

/** Words that no form shows to vary. */
const NAMES = words(
  'alice bob carol dave erin frank grace heidi ivan judy kate leo mallory nina oscar peggy quinn rupert sybil trent ursula victor wendy xavier yvonne zoe',
);
const TABLES = words(
  'orders users invoices sessions carts payments refunds products stocks audits tokens teams invites plans',
);
const FUNCTIONS = words(
  'checkout refund resize-image send-mail webhook search-index thumbnail export-csv import-csv nightly',
);

function createParts(random: Random) {
  const pick = (items: readonly string[]) => random.pick(items.map((item) => [item] as const))[0];
  const hex = (size: number) => Array.from({ length: size }, () => random.whole(0, 15).toString(16)).join('');
  const number = (max: number) => String(random.whole(0, max));
  return {
    pick,
    hex,
    number,
    name: () => pick(NAMES),
    table: () => pick(TABLES),
    call: () => pick(FUNCTIONS),
    id: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
    ip: () => [203, 0, random.whole(0, 255), random.whole(1, 254)].join('.'),
    ip6: () => `2001:db8:${hex(4)}:${hex(4)}::${hex(4)}`,
    time: () => new Date(1_795_000_000_000 + random.whole(0, 1e9)).toISOString(),
    host: () => `${pick(NAMES)}.example.co`,
    email: () => `${pick(NAMES)}${number(99)}@example.com`,
  };
}

type MessageParts = ReturnType<typeof createParts>;

/** Forty templates of messages, as people tell them apart: by what stays the same. */
const LABELLED: readonly ((p: MessageParts) => string)[] = [
  (p) => `POST | 502 | ${p.ip()} | ${p.id()} | https://${p.host()}/functions/v1/${p.call()}`,
  (p) => `GET | ${p.pick(['200', '304'])} | ${p.ip()} | ${p.id()} | https://${p.host()}/rest/v1/${p.table()}`,
  (p) => `GET | 200 | ${p.ip()} | ${p.id()} | https://${p.host()}/storage/v1/object/${p.hex(32)}`,
  (p) => `connection received: host=${p.ip()} port=${p.number(65_535)}`,
  (p) => `connection authorized: user=${p.name()} database=postgres application_name=psql`,
  (p) => `disconnection: session time: 0:${p.number(59)}:12.${p.number(999)} user=${p.name()}`,
  (p) => `duration: ${p.number(9_999)}.${p.number(999)} ms  statement: select * from ${p.table()}`,
  (p) => `relation "${p.name()}_${p.table()}" does not exist`,
  (p) => `duplicate key value violates unique constraint "${p.table()}_${p.name()}_key"`,
  () => 'checkpoint starting: time',
  (p) => `checkpoint complete: wrote ${p.number(9_999)} buffers (${p.number(99)}.${p.number(9)}%)`,
  (p) => `automatic vacuum of table "postgres.public.${p.table()}": index scans: ${p.number(9)}`,
  (p) => `user ${p.name()} logged in from ${p.ip()}`,
  (p) => `user ${p.name()} logged out`,
  (p) => `password reset requested for ${p.email()}`,
  (p) => `invalid refresh token ${p.hex(40)}`,
  (p) => `token expired at ${p.time()}`,
  (p) => `upload of ${p.number(9_999_999)} bytes to bucket ${p.name()} finished in ${p.number(900)}ms`,
  (p) => `upload to bucket ${p.name()} failed: connection reset by peer`,
  (p) => `worker ${p.number(64)} started, pid ${p.number(32_768)}`,
  (p) => `worker ${p.number(64)} stopped, pid ${p.number(32_768)}, exit code 0`,
  (p) => `segfault at 0x${p.hex(12)} ip 0x${p.hex(12)} error 4`,
  (p) => `cache miss for key session:${p.id()}`,
  (p) => `cache hit for key session:${p.id()}`,
  (p) => `retrying request ${p.id()} (attempt ${p.number(5)} of 5)`,
  (p) => `peer ${p.ip6()} disconnected`,
  (p) => `replication lag is ${p.number(9_999)} ms on replica db-${p.number(30)}`,
  (p) => `job ${p.name()}-${p.call()} took ${p.number(500)} s`,
  (p) => `deploy of commit ${p.hex(7)}a to production by ${p.name()}`,
  (p) => `certificate for ${p.host()} expires in ${p.number(30)} days`,
  (p) => `level=info msg="request done" path=/v1/${p.table()} took=${p.number(999)}ms`,
  (p) => `level=error msg="upstream timed out" path=/v1/${p.table()} took=${p.number(9_999)}ms`,
  (p) => `{"event":"boot","region":"eu","ms":${p.number(400)},"id":"${p.id()}"}`,
  (p) => `{"event":"shutdown","reason":"idle","id":"${p.id()}"}`,
  (p) => `SIGTERM received, draining ${p.number(500)} connections`,
  () => 'out of memory: killed process',
  () => 'too many connections for role "anon"',
  (p) => `stripe webhook evt_${p.hex(24)} handled`,
  (p) => `sent mail '${p.name()} and ${p.name()} meet' to ${p.email()}`,
  (p) => `slow query: ${p.number(90)}.${p.number(9)} s, ${p.number(99_999)} rows, plan ${p.hex(16)}`,
];

/** Messages with the number of their template. */
export function createLabelled(random: Random, count: number): { label: number; message: string }[] {
  const parts = createParts(random);
  return Array.from({ length: count }, () => {
    const label = random.whole(0, LABELLED.length - 1);
    return { label, message: LABELLED[label]?.(parts) ?? '' };
  });
}
