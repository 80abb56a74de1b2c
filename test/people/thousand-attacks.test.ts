import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLyingProvider } from '../support/lying-provider.ts';
import { startPeople, startWithProvider } from '../support/people.ts';
import { startTestService } from '../support/service.ts';
import { createBrowserKinds } from './attacks/browsers.ts';
import { createTossingKind, PUBLIC_URL } from './attacks/cookies.ts';
import { createIssuerKinds } from './attacks/issuers.ts';
import type { Kind } from './attacks/kind.ts';
import { createPageKind, createRedirectKind } from './attacks/pages.ts';
import { createProxyKinds, PROXY_ENV } from './attacks/proxy.ts';
import { createStateKinds } from './attacks/states.ts';
import { createTokenKinds } from './attacks/tokens.ts';

// Far above what it takes: a machine may be busy with other things.
const MS_MAX = 600_000;

const closings: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closings.toReversed()) await close();
});

/** Keeps what has to be closed. */
function keep<T extends { close(): Promise<void> }>(started: T): T {
  closings.push(started.close);
  return started;
}

let kinds: readonly Kind[];
beforeAll(async () => {
  const people = keep(await startPeople());
  const lying = keep(await startWithProvider(startLyingProvider));
  const env = { ...PROXY_ENV, TAILRACE_ROLES_FILE: people.rolesFile, TAILRACE_PUBLIC_URL: PUBLIC_URL };
  const proxied = keep(await startTestService({ env }));
  kinds = [
    ...createBrowserKinds(people),
    ...createStateKinds(lying),
    ...createTokenKinds(lying),
    ...createIssuerKinds(lying),
    createRedirectKind(people),
    ...createProxyKinds(proxied.url),
    await createTossingKind(proxied.url),
    createPageKind(people, await people.signIn('ada')),
  ];
}, MS_MAX);

test(
  'of more than a thousand attacks of all kinds none succeeds, and each does without what it forges',
  async () => {
    const counts: Record<string, number> = {};
    const succeeded: string[] = [];
    for (const { name, attacks, control } of kinds) {
      expect([name, await control()]).toEqual([name, true]);
      for (const { shape, attempt } of attacks) if (await attempt()) succeeded.push(`${name}: ${shape}`);
      expect(succeeded).toEqual([]);
      counts[name] = attacks.length;
      // A service that rejects everything by now would have rejected the attacks, too.
      expect([name, await control()]).toEqual([name, true]);
    }
    expect(succeeded).toEqual([]);
    console.log(counts);
    expect(Math.min(...Object.values(counts))).toBeGreaterThanOrEqual(15);
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(1_000);
  },
  MS_MAX,
);
