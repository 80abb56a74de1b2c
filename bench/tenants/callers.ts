import type { NewKey } from '../../src/keys/management.ts';
import { SCOPES } from '../../src/keys/scope.ts';
import type { Service } from '../../src/service.ts';
import { TENANTS } from './data.ts';

/** A key and what is to be expected of it, said here a second time. */
export interface TestCaller {
  readonly key: string;
  readonly state: 'good' | 'bad';
  readonly mayQuery: boolean;
  readonly endpoints: readonly string[] | undefined;
  readonly pins: Readonly<Record<string, string>>;
}

// The keys of tenants are seven times twenty.
const UNPINNED_TIMES = 10;

/** Keys of every kind for every tenant, and some of nobody. */
export function makeCallers({ keyring }: Pick<Service, 'keyring'>, nowMs: number): TestCaller[] {
  const make = (key: Omit<NewKey, 'name'>): TestCaller => ({
    key: keyring.create({ name: 'test', ...key }).key,
    state: (key.expiresMs ?? Number.POSITIVE_INFINITY) > nowMs ? 'good' : 'bad',
    mayQuery: key.scopes.includes('query'),
    endpoints: key.endpoints,
    pins: key.pins ?? {},
  });
  const scopes = ['query'] as const;
  const ofTenants = TENANTS.flatMap((project) => {
    const revoked = keyring.create({ name: 'revoked', scopes, pins: { project } });
    keyring.revoke(revoked.id);
    return [
      make({ scopes, pins: { project } }),
      make({ scopes: SCOPES, pins: { project, project_tier: 'PRO' } }),
      make({ scopes, pins: { project, interval: '5min' } }),
      make({ scopes, pins: { project }, endpoints: ['logs.all', 'usage.api-counts'] }),
      make({ scopes: ['ingest'], pins: { project } }),
      make({ scopes, pins: { project }, expiresMs: nowMs }),
      { ...make({ scopes, pins: { project } }), key: revoked.key, state: 'bad' } as const,
    ];
  });
  const unpinned = [make({ scopes }), make({ scopes }), make({ scopes, pins: { project_tier: 'FREE' } })];
  const unknown = { ...make({ scopes }), key: `tr_0123456789ab_${'a'.repeat(43)}`, state: 'bad' } as const;
  return [...ofTenants, ...Array.from({ length: UNPINNED_TIMES }, () => unpinned).flat(), unknown];
}
