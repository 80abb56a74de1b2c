import { QueryClientProvider } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { Self } from '../../src/management/view.ts';
import {
  type CallOptions,
  type Client,
  ClientContext,
  callRaw,
  type Needs,
  openEvents,
  parseAnswer,
} from './api/client.ts';
import { createCache } from './api/queries.ts';
import { keepKey, readKey } from './api/session.ts';
import { SignInPage } from './page/sign-in/sign-in.tsx';
import { findPage } from './page.ts';
import { PreferenceContext } from './preference.ts';
import { Shell } from './shell.tsx';
import { applyPreference, readPreference } from './stored-preference.ts';

/** The signed-in key and its rights. */
interface Session {
  readonly key: string | undefined;
  readonly self: Self;
}

/** For pages that need no key. */
const WITHOUT_KEY: Session = {
  key: undefined,
  self: { id: '', token: false, scopes: [], endpoints: [], sources: [], pins: {}, version: '' },
};

/**
 * The console: the sign-in, then the pages. Signing in keeps the URL, so a shared view opens afterwards. A page that needs no key
 * is shown without one, unless the user has one or wants to sign in.
 */
export function App() {
  const [preference, setPreference] = useState(readPreference);
  const [session, setSession] = useState<Session>();
  const [message, setMessage] = useState<string>();
  const [location] = useLocation();
  const [wantsSignIn, setWantsSignIn] = useState(() => readKey() !== undefined);
  const needsKey = (findPage(location)?.scopes ?? 'none') !== 'none';

  // The system's own choice may change while the page is open.
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const onChange = () => {
      applyPreference(preference);
      setPreference({ ...preference });
    };
    dark.addEventListener('change', onChange);
    return () => dark.removeEventListener('change', onChange);
  }, [preference]);

  const leave = useCallback((why?: string) => {
    keepKey(undefined);
    setSession(undefined);
    setMessage(why);
    setWantsSignIn(why !== undefined);
  }, []);

  const shown = session ?? (needsKey || wantsSignIn ? undefined : WITHOUT_KEY);
  const used = useMemo(
    () => shown && { client: createClient(shown, leave), cache: createCache() },
    [shown, leave],
  );
  // Nothing that a key has read is left once it is signed out.
  useEffect(() => () => used?.cache.clear(), [used]);
  const preferences = useMemo(
    () => ({
      preference,
      shown: document.documentElement.dataset['theme'] === 'dark' ? ('dark' as const) : ('light' as const),
      change(change: Partial<typeof preference>) {
        const next = { ...preference, ...change };
        applyPreference(next);
        setPreference(next);
      },
    }),
    [preference],
  );

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
      ) : (
        <QueryClientProvider client={used.cache}>
          <ClientContext value={used.client}>
            <Shell onSignIn={() => setWantsSignIn(true)} onSignOut={() => leave()} />
          </ClientContext>
        </QueryClientProvider>
      )}
    </PreferenceContext>
  );
}

function createClient({ key, self }: Session, leave: (why: string) => void): Client {
  const onRefused = () => leave('This key was revoked or has expired.');
  const raw: Client['callRaw'] = (path, options) => callRaw(key, path, { ...options, onRefused });
  return {
    self,
    callRaw: raw,
    openEvents: (path, options) => openEvents(key, path, { ...options, onRefused }),
    call: async <T,>(path: string, needs: Needs<T>, options?: CallOptions) =>
      parseAnswer<T>(await raw(path, options), needs),
  };
}
