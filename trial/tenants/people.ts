import { hash, randomBytes } from 'node:crypto';
import type { Keyring } from '../../src/keys/keyring.ts';
import type { SessionRecord } from '../../src/keys/session-store.ts';
import { SECURE_COOKIES } from '../../src/people/credential.ts';
import type { TestCaller } from './callers.ts';
import { TENANTS } from './data.ts';

const SOURCES = ['cloudflare.logs.prod'];
const ENDPOINTS = ['logs.all', 'usage.api-counts'];
const query = { scopes: ['query'] };
const project = 'claim:projects';

/** The file of roles, in JSON, which is YAML: a role with a fixed pin for each tenant, and roles that take pins from claims. */
export const ROLES_TEXT = JSON.stringify({
  ...Object.fromEntries(
    TENANTS.map((name, i) => [`team${i}`, { ...query, groups: [`team-${i}`], pins: { project: name } }]),
  ),
  customer: { ...query, claims: { kind: 'customer' }, pins: { project } },
  tiered: { ...query, claims: { kind: 'tiered' }, pins: { project, project_tier: 'PRO' } },
  timed: { ...query, claims: { kind: 'timed' }, pins: { project, interval: 'claim:org.interval' } },
  searcher: { ...query, claims: { kind: 'searcher' }, sources: SOURCES, pins: { project } },
  listed: {
    ...query,
    claims: { kind: 'listed' },
    endpoints: ENDPOINTS,
    pins: { project: 'claim:org.project' },
  },
  sender: { scopes: ['ingest'], claims: { kind: 'sender' }, pins: { project } },
  staff: { ...query, groups: ['staff'] },
});

export interface PeopleOptions {
  readonly keyring: Keyring;
  /** Writes a session into the service's control store. */
  readonly addSession: (session: SessionRecord) => Promise<boolean>;
  /** ms since the epoch. */
  readonly nowMs: number;
}

type Rights = Partial<Omit<TestCaller, 'name' | 'headers' | 'isPerson'>>;

const ALL_RIGHTS: Omit<TestCaller, 'name' | 'headers'> = {
  ...{ isPerson: true, state: 'good', mayQuery: true },
  ...{ endpoints: undefined, sources: undefined, pins: {}, choices: {} },
};
// The tenants have 20 × 20 others.
const STAFF_TIMES = 20;
const LIFE_MS = 3_600_000;
/** As src/service/callers.ts has it. */
const IDLE_MS = 8 * 3_600_000;
const UNKNOWN = `ts_0123456789ab_${'a'.repeat(43)}`;

/** People of every kind for every tenant, by session; people of all tenants; keys that have signed in, and keys beside a cookie. */
export async function makePeople({ keyring, addSession, nowMs }: PeopleOptions): Promise<TestCaller[]> {
  let made = 0;

  /** Opens a session. @param rights of its person, stated again for the oracle */
  async function open(session: Partial<SessionRecord>, rights: Rights): Promise<TestCaller> {
    const id = randomBytes(6).toString('hex');
    const secret = `ts_${id}_${randomBytes(32).toString('base64url')}`;
    const name = `person ${++made}`;
    const texts = { owner: `person:${made}`, name, claims: undefined, print: '', login: name };
    const client = { address: '127.0.0.1', agent: '' };
    const times = { createdMs: nowMs, seenMs: nowMs, expiresMs: nowMs + LIFE_MS };
    await addSession({ ...texts, ...client, ...times, ...session, id, hash: hash('sha256', secret) });
    return { ...ALL_RIGHTS, name, headers: cookieOf(secret), ...rights };
  }

  const person = (claims: object, rights: Rights, session: Partial<SessionRecord> = {}) =>
    open({ claims: { ...claims }, ...session }, rights);

  async function ofTenant(own: string, i: number): Promise<TestCaller[]> {
    const [next = '', third = ''] = [1, 7].map((far) => TENANTS[(i + far) % TENANTS.length]);
    const several = [next, own, third];
    const customer = { kind: 'customer', projects: own };
    const searcher = { kind: 'searcher', projects: own };
    const timed = { kind: 'timed', projects: own, org: { interval: '5min' } };
    const pins = { project: own };
    const ofSeveral = { choices: { project: several } };
    const ofTwo = { pins: { project_tier: 'PRO' }, choices: { project: [own, next] } };
    return [
      await person({ groups: ['team-x', `team-${i}`] }, { pins }),
      await person(customer, { pins }),
      await person({ ...customer, projects: several }, ofSeveral),
      await person({ kind: 'tiered', projects: [own, next] }, ofTwo),
      await person(timed, { pins: { project: own, interval: '5min' } }),
      await person(searcher, { pins, sources: SOURCES }),
      await person({ ...searcher, projects: several }, { ...ofSeveral, sources: SOURCES }),
      await person({ kind: 'listed', org: { project: own } }, { pins, endpoints: ENDPOINTS }),
      await person({ ...customer, kind: 'sender' }, { mayQuery: false }),
      await person({ ...customer, projects: [own, 7] }, { mayQuery: false }), // a list with a value that is no text
      await person({ kind: 'listed', projects: own }, { mayQuery: false }), // without the claim that pins
      await person({ groups: ['strangers'], projects: own }, { mayQuery: false }),
      await person(customer, { state: 'bad' }, { expiresMs: nowMs }),
      await person(customer, { state: 'bad' }, { seenMs: nowMs - IDLE_MS }),
      { ...(await person(customer, { state: 'bad' })), headers: cookieOf(UNKNOWN) },
      ...(await withKeys(own, next)),
    ];
  }

  /** Keys that have signed in, and keys beside the cookie of another tenant's person: the key counts, even if it is rejected. */
  async function withKeys(own: string, next: string): Promise<TestCaller[]> {
    const pins = { project: own };
    const create = () => keyring.create({ name: 'of a tenant', scopes: ['query'], pins });
    const [good, revoked] = [await create(), await create()];
    const hold = async (key: string) => {
      const { keyId: owner, print } = await keyring.hold(await keyring.authenticate(key));
      return { owner, print, login: '' };
    };
    const ofGood = await open(await hold(good.key), { pins });
    const ofRevoked = await open(await hold(revoked.key), { state: 'bad' });
    await keyring.revoke(revoked.id);
    const other = await person({ kind: 'customer', projects: next }, { pins: { project: next } });
    const beside = ({ name, ...rights }: TestCaller, key: string): TestCaller => ({
      ...rights,
      name: `a key beside ${name}`,
      headers: { cookie: other.headers['cookie'] ?? '', 'x-api-key': key },
      isPerson: false,
    });
    return [ofGood, ofRevoked, other, beside(ofGood, good.key), beside(ofRevoked, revoked.key)];
  }

  const people: TestCaller[] = [];
  for (const [i, own] of TENANTS.entries()) people.push(...(await ofTenant(own, i)));
  const staff = await person({ groups: ['staff'] }, {});
  return [...people, ...Array.from({ length: STAFF_TIMES }, () => staff)];
}

/** What a page of the service sends. */
function cookieOf(secret: string): TestCaller['headers'] {
  const cookie = `${SECURE_COOKIES.session}=${secret}`;
  return { cookie, origin: 'http://localhost', 'x-tailrace-console': '1' };
}
