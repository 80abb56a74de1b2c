import { type ComponentType, lazy } from 'react';

/**
 * A page of the console. A new one is a folder in page/ and a line in this list; its path must be served, too
 * (src/http/routes/console.ts).
 */
export interface Page {
  /** As wouter has it: `/endpoints/:name`. */
  readonly path: string;
  /** Its name in the navigation; without one it is reached from another page. */
  readonly title?: string;
  /** It is offered to keys with one of these scopes. */
  readonly scopes: readonly string[];
  readonly component: ComponentType;
}

export const PAGES: readonly Page[] = [
  {
    path: '/',
    title: 'Overview',
    scopes: ['query', 'manage'],
    component: lazy(async () => ({ default: (await import('./page/overview/overview.tsx')).OverviewPage })),
  },
  {
    path: '/endpoints/:name',
    scopes: ['query', 'manage'],
    component: lazy(async () => ({ default: (await import('./page/endpoint/endpoint.tsx')).EndpointPage })),
  },
  {
    path: '/sources',
    title: 'Sources',
    scopes: ['ingest', 'manage'],
    component: lazy(async () => ({
      default: (await import('./page/source/source-list.tsx')).SourceListPage,
    })),
  },
  {
    path: '/sources/:name',
    scopes: ['ingest', 'manage'],
    component: lazy(async () => ({ default: (await import('./page/source/source.tsx')).SourcePage })),
  },
  {
    path: '/keys',
    title: 'Keys',
    scopes: ['manage'],
    component: lazy(async () => ({ default: (await import('./page/keys/keys.tsx')).KeysPage })),
  },
];
