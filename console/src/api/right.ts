import type { Self } from '../../../src/management/view.ts';

/** Whether a key may search: one that is limited to endpoints reads what those return, and no events by themselves. */
export function maySearch({ scopes, endpoints }: Self): boolean {
  return scopes.includes('query') && endpoints === null;
}

/** Whether a key may use the workbench, with which it reads every event by any SELECT. */
export function mayUseWorkbench({ scopes, token, endpoints, sources, pins }: Self): boolean {
  const isLimited = token || endpoints !== null || sources !== null || Object.keys(pins).length > 0;
  return scopes.includes('manage') && scopes.includes('query') && !isLimited;
}
