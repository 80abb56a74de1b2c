import type { ComponentType } from 'react';
import type { Me } from '../../src/management/view.ts';
import { maySearch, mayUseWorkbench } from './api/right.ts';
import { lazyPart } from './ui/boundary/boundary.tsx';

/**
 * A page of the console. A new page is a folder in page/ and an entry in this list; the service must serve its path, too
 * (src/http/routes/console.ts).
 */
export interface Page {
  /** A pattern of wouter: `/endpoints/:name`. */
  readonly path: string;
  /** Its name in the navigation; without one another page links to it. */
  readonly title?: string;
  /** Shown to keys with one of these scopes; `none`: to everyone, even without a key. */
  readonly scopes: readonly string[] | 'none';
  /** Further requirements on a key. */
  readonly needs?: { readonly isMet: (self: Me) => boolean; readonly text: string };
  readonly component: ComponentType;
}

export const PAGES: readonly Page[] = [
  {
    path: '/',
    title: 'Overview',
    scopes: ['query', 'manage'],
    component: lazyPart(async () => (await import('./page/overview/overview.tsx')).OverviewPage),
  },
  {
    path: '/explore',
    title: 'Explore',
    scopes: ['query'],
    needs: { isMet: maySearch, text: 'that is not limited to endpoints' },
    component: lazyPart(async () => (await import('./page/explore/explore.tsx')).ExplorePage),
  },
  {
    path: '/dashboards',
    title: 'Dashboards',
    scopes: ['query'],
    component: lazyPart(async () => (await import('./page/dashboards/dashboard-list.tsx')).DashboardListPage),
  },
  {
    path: '/dashboards/:name',
    scopes: ['query'],
    component: lazyPart(async () => (await import('./page/dashboards/dashboard.tsx')).DashboardPage),
  },
  {
    path: '/alerts',
    title: 'Alerts',
    scopes: ['query'],
    component: lazyPart(async () => (await import('./page/alerts/alert-list.tsx')).AlertListPage),
  },
  {
    path: '/alerts/:name',
    scopes: ['query'],
    component: lazyPart(async () => (await import('./page/alerts/alert.tsx')).AlertPage),
  },
  {
    path: '/workbench',
    title: 'Workbench',
    scopes: ['manage'],
    needs: { isMet: mayUseWorkbench, text: 'also with the scope query, and without other limits' },
    component: lazyPart(async () => (await import('./page/workbench/workbench.tsx')).WorkbenchPage),
  },
  {
    path: '/workbench/alert',
    scopes: ['manage'],
    needs: { isMet: mayUseWorkbench, text: 'also with the scope query, and without other limits' },
    component: lazyPart(async () => (await import('./page/workbench/alert-bench.tsx')).AlertBenchPage),
  },
  {
    path: '/endpoints/:name',
    scopes: ['query', 'manage'],
    component: lazyPart(async () => (await import('./page/endpoint/endpoint.tsx')).EndpointPage),
  },
  {
    path: '/sources',
    title: 'Sources',
    scopes: ['ingest', 'manage'],
    component: lazyPart(async () => (await import('./page/source/source-list.tsx')).SourceListPage),
  },
  {
    path: '/sources/:name',
    scopes: ['ingest', 'manage'],
    component: lazyPart(async () => (await import('./page/source/source.tsx')).SourcePage),
  },
  {
    path: '/send',
    title: 'Send logs',
    scopes: ['ingest', 'manage'],
    component: lazyPart(async () => (await import('./page/send/send.tsx')).SendPage),
  },
  {
    path: '/keys',
    title: 'Keys',
    scopes: ['manage'],
    component: lazyPart(async () => (await import('./page/keys/keys.tsx')).KeysPage),
  },
  {
    path: '/admin',
    title: 'Admin',
    scopes: ['manage'],
    component: lazyPart(async () => (await import('./page/admin/admin.tsx')).AdminPage),
  },
  {
    path: '/sessions',
    scopes: ['query', 'ingest', 'manage', 'metrics'],
    component: lazyPart(async () => (await import('./page/sessions/sessions.tsx')).SessionsPage),
  },
  {
    path: '/docs',
    title: 'API reference',
    scopes: 'none',
    component: lazyPart(async () => (await import('./page/reference/reference.tsx')).ReferencePage),
  },
];

export function isOfferedTo({ scopes, needs }: Page, self: Me): boolean {
  const hasScope = scopes === 'none' || scopes.some((scope) => self.scopes.includes(scope));
  return hasScope && (needs === undefined || needs.isMet(self));
}

/** The page at a path; `undefined` if there is none, which the console reports even without a key. */
export function findPage(path: string): Page | undefined {
  const names = path.split('/');
  return PAGES.find((page) => {
    const parts = page.path.split('/');
    return (
      parts.length === names.length && parts.every((part, i) => part === names[i] || part.startsWith(':'))
    );
  });
}
