import { type ComponentType, lazy } from 'react';
import type { Me } from '../../src/management/view.ts';
import { maySearch, mayUseWorkbench } from './api/queries.ts';

/** A page: a folder in page/ and an entry in the list below; src/http/routes/console.ts serves its path, too. */
export interface Page {
  /** A pattern of wouter: `/endpoints/:name`. */
  readonly path: string;
  /** Its name in the navigation; empty: another page links to it. */
  readonly title: string;
  /** Shown to keys with one of these scopes; `none`: to everyone, even without a key. */
  readonly scopes: readonly string[] | 'none';
  /** Further requirements on a key. */
  readonly needs?: { readonly isMet: (self: Me) => boolean; readonly text: string };
  readonly component: ComponentType;
}

const READ = ['query', 'manage'];
const QUERY = ['query'];
const MANAGE = ['manage'];
const SEND = ['ingest', 'manage'];
const SEARCH = { isMet: maySearch, text: 'that is not limited to endpoints' };
const WORKBENCH = { isMet: mayUseWorkbench, text: 'also with the scope query, and without other limits' };

function page(
  path: string,
  title: string,
  scopes: Page['scopes'],
  load: Parameters<typeof lazy>[0],
  needs?: Page['needs'],
): Page {
  return { path, title, scopes, component: lazy(load), ...(needs && { needs }) };
}

export const PAGES: readonly Page[] = [
  page('/', 'Overview', READ, () => import('./page/overview/overview.tsx')),
  page('/explore', 'Explore', QUERY, () => import('./page/explore/explore.tsx'), SEARCH),
  page('/dashboards', 'Dashboards', QUERY, () => import('./page/dashboards/dashboard-list.tsx')),
  page('/dashboards/:name', '', QUERY, () => import('./page/dashboards/dashboard.tsx')),
  page('/alerts', 'Alerts', QUERY, () => import('./page/alerts/alert-list.tsx')),
  page('/alerts/:name', '', QUERY, () => import('./page/alerts/alert.tsx')),
  page('/workbench', 'Workbench', MANAGE, () => import('./page/workbench/workbench.tsx'), WORKBENCH),
  page('/workbench/alert', '', MANAGE, () => import('./page/workbench/alert-bench.tsx'), WORKBENCH),
  page('/endpoints/:name', '', READ, () => import('./page/endpoint/endpoint.tsx')),
  page('/sources', 'Sources', SEND, () => import('./page/source/source-list.tsx')),
  page('/sources/:name', '', SEND, () => import('./page/source/source.tsx')),
  page('/send', 'Send logs', SEND, () => import('./page/send/send.tsx')),
  page('/keys', 'Keys', MANAGE, () => import('./page/keys/keys.tsx')),
  page('/admin', 'Admin', MANAGE, () => import('./page/admin/admin.tsx')),
  page('/sessions', '', [...READ, 'ingest', 'metrics'], () => import('./page/sessions/sessions.tsx')),
  page('/docs', 'API reference', 'none', () => import('./page/reference/reference.tsx')),
];

export function isOfferedTo({ scopes, needs }: Page, self: Me): boolean {
  const hasScope = scopes === 'none' || scopes.some((scope) => self.scopes.includes(scope));
  return hasScope && (needs === undefined || needs.isMet(self));
}
