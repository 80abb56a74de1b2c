import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Me, SignInView } from '../../../../src/management/view.ts';
import { ApiError, callRaw, parseAnswer } from '../../api/client.ts';
import { readChoices, withChoices } from '../../api/session.ts';
import { withQuery } from '../../format/values.ts';
import { Form, TextField } from '../../ui/form.tsx';
import { Button, CopyButton, Mark } from '../../ui/page-part.tsx';
import './sign-in.css';

// Each page of console/src/page.ts is open to one of these scopes.
const CREATE_KEY = 'npx tailrace keys create --name me --scope query,ingest,manage';

interface SignInProps {
  /** The stored key of this tab, which is tried at once. */
  readonly kept: string | undefined;
  readonly message: string | undefined;
  /** `key` is left out if a cookie has the session. */
  readonly onSignIn: (key: string | undefined, self: Me) => void;
  /** Continues without a key, to the API reference. */
  readonly onSkip: () => void;
}

/** Signs in with the account of the company, or with a key. A session that the browser has, or a key of this tab, is tried at once. */
export function SignInPage({ kept, message, onSignIn, onSkip }: SignInProps) {
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(kept !== undefined);
  const [options, setOptions] = useState<SignInView>();
  const [problem] = useState(takeProblem);

  const signIn = async (key: string) => {
    setBusy(true);
    setFault(undefined);
    try {
      onSignIn(...(await openSession(key)));
    } catch (error) {
      setFault(describe(error));
      setBusy(false);
    }
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with the key that was there at first
  useEffect(() => {
    if (kept !== undefined) void signIn(kept);
    void readOptions().then(async (found) => {
      const self = kept === undefined && found.session ? await findMe() : undefined;
      if (self === undefined) setOptions(found);
      else onSignIn(undefined, self);
    });
  }, []);

  const { pathname, search, hash } = window.location;
  const onSubmit = (data: FormData) => {
    const key = String(data.get('key') ?? '').trim();
    if (key === '') setFault('Enter a key.');
    // A header cannot carry other characters: the call would fail as if the service were unreachable.
    else if (!/^[\x21-\x7e]+$/.test(key))
      setFault('This is not a key: keys have no spaces and only ASCII characters. Copy it again.');
    else void signIn(key);
  };

  return (
    <main className="sign-in">
      <Form className="panel" error={fault} onSubmit={onSubmit}>
        <Brand />
        {problem !== undefined && <div className="note is-bad">{problem}</div>}
        {message !== undefined && <div className="note is-info">{message}</div>}
        {options?.provider === true && (
          <a className="button is-primary" href={withQuery('/auth/login', { to: pathname + search + hash })}>
            Sign in with your company’s account
          </a>
        )}
        {options?.keys !== false && (
          <>
            <p className="muted">
              {options?.provider === true ? 'Or with an API key.' : 'Sign in with an API key.'}
            </p>
            <TextField
              label="API key"
              name="key"
              type="password"
              fault={fault}
              // It is the only thing to do here.
              autoFocus
            />
            <Button
              type="submit"
              disabled={busy}
              {...(options?.provider !== true && { look: 'primary' as const })}
            >
              {busy ? 'Signing in…' : 'Sign in'}
            </Button>
            <KeyHelp onSkip={onSkip} />
          </>
        )}
      </Form>
    </main>
  );
}

function Brand() {
  return (
    <div className="sign-in-brand">
      <Mark />
      <h1>Tailrace</h1>
    </div>
  );
}

function KeyHelp({ onSkip }: Pick<SignInProps, 'onSkip'>) {
  return (
    <div className="sign-in-help small muted">
      <p>
        No key yet? The service prints one at its first start. Run this in its folder to create a key for
        every page:
      </p>
      <div className="sign-in-command">
        <code>{CREATE_KEY}</code>
        <CopyButton text={CREATE_KEY} />
      </div>
      <p>
        With <code>--scope query</code> alone, a key sees endpoints and searches events, but sees no numbers
        and no keys. The{' '}
        <Link href="/docs" onClick={onSkip}>
          API reference
        </Link>{' '}
        needs no key.
      </p>
    </div>
  );
}

/** Opens a session for a key. A service on plain HTTP opens none: the key then stays in this tab. */
async function openSession(key: string): Promise<[key: string | undefined, self: Me]> {
  const headers = { 'x-tailrace-console': '1' };
  try {
    const raw = await callRaw(key, '/auth/key', { method: 'POST', headers });
    return [undefined, parseAnswer<Me>(raw, ME_NEEDS)];
  } catch (error) {
    const mayKeep = error instanceof ApiError && error.status === 403 && (await readOptions()).keys;
    if (!mayKeep) throw error;
    return [key, parseAnswer<Me>(await callRaw(key, '/api/me'), ME_NEEDS)];
  }
}

const ME_NEEDS = ['id', 'scopes', 'endpoints', 'sources', 'pins', 'choices', 'denied'] as const;

/** @returns `undefined` if the session of the browser has ended */
async function findMe(): Promise<Me | undefined> {
  try {
    return parseAnswer<Me>(await callRaw(undefined, withChoices('/api/me', readChoices())), ME_NEEDS);
  } catch {
    return undefined;
  }
}

async function readOptions(): Promise<SignInView> {
  try {
    const raw = await callRaw(undefined, '/auth/options');
    return parseAnswer<SignInView>(raw, ['provider', 'keys', 'session']);
  } catch {
    return { provider: false, keys: true, session: false }; // the sign-in will say what is wrong
  }
}

/** @param address of this page: that to which the provider sends browsers back */
const problemsAt = (address: string): Readonly<Record<string, string>> => ({
  unavailable: 'The provider that signs you in does not respond. Try again, or sign in with a key.',
  elsewhere: `This sign-in was begun in another browser, not at ${address}, or too long ago. Start it again here.`,
  expired: 'This sign-in was begun too long ago, or twice. Start it again.',
  refused: 'The provider did not sign you in. Ask those who run it.',
  failed:
    'The response of the provider could not be verified. Ask those who run this service: its log says why.',
  claims: 'Your account has too many groups or claims. Ask those who run the provider to send fewer.',
  limit: 'Too many sign-ins came from your network. Try again in a minute.',
});

/** Reads why a sign-in has failed, and removes it from the address. */
function takeProblem(): string | undefined {
  const url = new URL(window.location.href);
  const problem = problemsAt(url.origin)[url.searchParams.get('sign_in') ?? ''];
  if (problem === undefined) return undefined;
  url.searchParams.delete('sign_in');
  window.history.replaceState(null, '', url);
  return problem;
}

function describe(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The console could not read the service’s response.';
  if (error.status === 401) return `This key is not accepted: ${error.message}.`;
  return error.message;
}

/** Shown to a person who has signed in and may see nothing. */
export function NoAccess(props: Readonly<{ name: string; why: string; onSignOut: () => void }>) {
  const { name, why, onSignOut } = props;
  return (
    <main className="sign-in">
      <div className="panel">
        <Brand />
        <h2>You have no access</h2>
        <p>{`${why.charAt(0).toUpperCase()}${why.slice(1)}.`}</p>
        <p className="muted">You are signed in as {name}.</p>
        <Button onClick={onSignOut}>Sign out</Button>
      </div>
    </main>
  );
}
