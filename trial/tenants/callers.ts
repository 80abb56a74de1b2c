import { SCOPES } from '../../src/keys/grant.ts';
import type { NewKey } from '../../src/keys/management.ts';
import type { Service } from '../../src/service/service.ts';
import { TENANTS } from './data.ts';

/** A key or a person, and its rights, stated again for the oracle. */
export interface TestCaller {
  readonly name: string;
  /** What it sends with each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether a session is all that identifies it. */
  readonly isPerson: boolean;
  readonly state: 'good' | 'bad';
  readonly mayQuery: boolean;
  readonly endpoints: readonly string[] | undefined;
  readonly sources: readonly string[] | undefined;
  readonly pins: Readonly<Record<string, string>>;
  /** Pins of which a request chooses the value, else the first counts. */
  readonly choices: Readonly<Record<string, readonly string[]>>;
}

// The tenants have 8 × 20 keys.
const UNPINNED_TIMES = 10;

/** Keys of every kind for every tenant, and some without a tenant. */
export async function makeCallers(
  { keyring }: Pick<Service, 'keyring'>,
  nowMs: number,
): Promise<TestCaller[]> {
  let made = 0;
  const make = async (key: Omit<NewKey, 'name'>, sent?: string): Promise<TestCaller> => ({
    name: `key ${++made}`,
    headers: { 'x-api-key': sent ?? (await keyring.create({ name: 'test', ...key })).key },
    isPerson: false,
    state: (key.expiresMs ?? Number.POSITIVE_INFINITY) > nowMs ? 'good' : 'bad',
    mayQuery: key.scopes.includes('query'),
    endpoints: key.endpoints,
    sources: key.sources,
    pins: key.pins ?? {},
    choices: {},
  });
  const scopes = ['query'] as const;
  const ofTenant = async (project: string): Promise<TestCaller[]> => {
    const revoked = await keyring.create({ name: 'revoked', scopes, pins: { project } });
    await keyring.revoke(revoked.id);
    return [
      await make({ scopes, pins: { project } }),
      await make({ scopes: SCOPES, pins: { project, project_tier: 'PRO' } }),
      await make({ scopes, pins: { project, interval: '5min' } }),
      await make({ scopes, pins: { project }, endpoints: ['logs.all', 'usage.api-counts'] }),
      await make({ scopes: ['ingest'], pins: { project } }),
      await make({ scopes, pins: { project }, expiresMs: nowMs }),
      { ...(await make({ scopes, pins: { project } }, revoked.key)), state: 'bad' },
      await make({ scopes, pins: { project }, sources: ['deno-relay-logs'] }),
    ];
  };
  const ofTenants: TestCaller[] = [];
  for (const project of TENANTS) ofTenants.push(...(await ofTenant(project)));
  const unpinned = [
    await make({ scopes }),
    await make({ scopes }),
    await make({ scopes, pins: { project_tier: 'FREE' } }),
  ];
  const unknown = {
    ...(await make({ scopes }, `tr_0123456789ab_${'a'.repeat(43)}`)),
    state: 'bad',
  } as const;
  return [...ofTenants, ...Array.from({ length: UNPINNED_TIMES }, () => unpinned).flat(), unknown];
}
