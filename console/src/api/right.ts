import type { Me } from '../../../src/management/view.ts';

/** Whether a key may search: one that is limited to endpoints reads what those return, and no events by themselves. */
export function maySearch({ scopes, endpoints }: Me): boolean {
  return scopes.includes('query') && endpoints === null;
}

/** Whether more than its scopes limits a key. */
export function isLimited({ endpoints, sources, pins }: Me): boolean {
  return endpoints !== null || sources !== null || Object.keys(pins).length > 0;
}

/** Whether a key may use the workbench, with which it reads every event by any SELECT. */
export function mayUseWorkbench(self: Me): boolean {
  const { scopes, token } = self;
  return scopes.includes('manage') && scopes.includes('query') && !token && !isLimited(self);
}

/** Whether a key may grant a scope: one that it has itself, or `metrics` with `manage`, which reads them, too. */
export function mayGrant({ scopes }: Me, scope: string): boolean {
  return scopes.includes(scope) || (scope === 'metrics' && scopes.includes('manage'));
}
