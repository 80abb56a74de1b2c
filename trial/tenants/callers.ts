import { SCOPES } from '../../src/keys/grant.ts';
import type { NewKey } from '../../src/keys/management.ts';
import type { Service } from '../../src/service/service.ts';
import { TENANTS } from './data.ts';

/** A key and its rights, stated again for the oracle. */
export interface TestCaller {
  readonly key: string;
  readonly state: 'good' | 'bad';
  readonly mayQuery: boolean;
  readonly endpoints: readonly string[] | undefined;
  readonly pins: Readonly<Record<string, string>>;
}

// The tenants have 7 × 20 keys.
const UNPINNED_TIMES = 10;

/** Keys of every kind for every tenant, and some without a tenant. */
export async function makeCallers(
  { keyring }: Pick<Service, 'keyring'>,
  nowMs: number,
): Promise<TestCaller[]> {
  const make = async (key: Omit<NewKey, 'name'>): Promise<TestCaller> => ({
    key: (await keyring.create({ name: 'test', ...key })).key,
    state: (key.expiresMs ?? Number.POSITIVE_INFINITY) > nowMs ? 'good' : 'bad',
    mayQuery: key.scopes.includes('query'),
    endpoints: key.endpoints,
    pins: key.pins ?? {},
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
      { ...(await make({ scopes, pins: { project } })), key: revoked.key, state: 'bad' },
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
    ...(await make({ scopes })),
    key: `tr_0123456789ab_${'a'.repeat(43)}`,
    state: 'bad',
  } as const;
  return [...ofTenants, ...Array.from({ length: UNPINNED_TIMES }, () => unpinned).flat(), unknown];
}
