import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { matchRoute, useLocation, useRouter } from 'wouter';
import type { Me } from '../../src/management/view.ts';
import { type Client, callRaw, createClient, parseAnswer, type SignedIn } from './api/client.ts';
import { ClientContext, DEFAULTS } from './api/queries.ts';
import {
  announceSignOut,
  type Choices,
  keepChoices,
  keepKey,
  onSignOutElsewhere,
  readChoices,
  readKey,
  withChoices,
} from './api/session.ts';
import { NoAccess, SignInPage } from './page/sign-in/sign-in.tsx';
import { PAGES } from './page.ts';
import { PreferenceContext, usePreferences } from './preference.ts';
import { Shell } from './shell.tsx';

type Session = Pick<SignedIn, 'key' | 'self'>;

const WITHOUT_KEY: Session = {
  key: undefined,
  self: {
    ...{ id: '', token: false, scopes: [], endpoints: [], sources: [], pins: {}, version: '' },
    ...{ kind: 'key', name: '', role: null, choices: {}, session: null, denied: null },
  },
};

/** The sign-in, at any URL, then the pages. One that needs no key is shown at once, unless the user wants to sign in. */
export function App() {
  const preferences = usePreferences();
  const [session, setSession] = useState<Session>();
  const [message, setMessage] = useState<string>();
  const [location] = useLocation();
  const [wantsSignIn, setWantsSignIn] = useState(() => readKey() !== undefined);
  const { parser } = useRouter();
  // A page that there is not needs none: the console says so.
  const page = PAGES.find(({ path }) => matchRoute(parser, path, location)[0]);
  const needsKey = page !== undefined && page.scopes !== 'none';

  const leave = useCallback((why?: string) => {
    keepKey(undefined);
    setSession(undefined);
    setMessage(why);
    setWantsSignIn(why !== undefined);
  }, []);

  const shown = session ?? (needsKey || wantsSignIn ? undefined : WITHOUT_KEY);
  // What a key may read is never shown to another one.
  const used = useMemo(
    () => shown && { client: clientOf(shown, leave), cache: new QueryClient({ defaultOptions: DEFAULTS }) },
    [shown, leave],
  );
  const hasCookie = session !== undefined && session.key === undefined;
  useEffect(
    () => (hasCookie ? onSignOutElsewhere(() => leave('You have signed out.')) : undefined),
    [hasCookie, leave],
  );
  const signOut = async () => {
    const to = hasCookie ? await endSession() : undefined;
    leave();
    if (to !== undefined) window.location.assign(to);
  };
  const choose = async (choices: Choices) => {
    keepChoices({ ...readChoices(), ...choices });
    const raw = await callRaw(session?.key, withChoices('/api/me', readChoices()));
    if (session !== undefined) setSession({ ...session, self: parseAnswer<Me>(raw, ['id', 'scopes']) });
  };
  // Nothing that a key has read is left once it is signed out.
  useEffect(() => () => used?.cache.clear(), [used]);
  return (
    <PreferenceContext value={preferences}>
      {used === undefined ? (
        <SignInPage
          kept={readKey()}
          message={message}
          onSignIn={(key, self) => {
            keepKey(key);
            setMessage(undefined);
            setSession({ key, self });
          }}
          onSkip={() => setWantsSignIn(false)}
        />
      ) : typeof used.client.self.denied === 'string' ? (
        <NoAccess name={used.client.self.name} why={used.client.self.denied} onSignOut={signOut} />
      ) : (
        <QueryClientProvider client={used.cache}>
          <ClientContext value={used.client}>
            <Shell onSignIn={() => setWantsSignIn(true)} onSignOut={signOut} onChoose={choose} />
          </ClientContext>
        </QueryClientProvider>
      )}
    </PreferenceContext>
  );
}

/** Ends the session in every tab. @returns the page of the provider that signs out there, too */
async function endSession(): Promise<string | undefined> {
  try {
    const raw = await callRaw(undefined, '/auth/logout', { method: 'POST' });
    announceSignOut();
    return parseAnswer<{ readonly to: string | null }>(raw, ['to']).to ?? undefined;
  } catch {
    return undefined; // it has ended already, or the service cannot be reached
  }
}

function clientOf({ key, self }: Session, leave: (why: string) => void): Client {
  // Without those of the person before in this tab.
  const own = Object.entries(readChoices()).filter(([name]) => Object.hasOwn(self.choices, name));
  const onRejected = () => leave(whyRejected(key, self));
  return createClient({ self, key, choices: Object.fromEntries(own), onRejected });
}

function whyRejected(key: string | undefined, { kind }: Me): string {
  if (key !== undefined) return 'This key was revoked or has expired.';
  // A session of a key ends with it, and by itself.
  if (kind !== 'person') return 'This key was revoked or has expired, or its session has ended.';
  return 'Your session has ended. Sign in again.';
}
