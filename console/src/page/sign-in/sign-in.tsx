import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Self } from '../../../../src/management/view.ts';
import { ApiError, callRaw, parseAnswer } from '../../api/client.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Mark } from '../../ui/mark.tsx';
import './sign-in.css';

// Each page of console/src/page.ts is open to one of these scopes.
const CREATE_KEY = 'npx tailrace keys create --name me --scope query,ingest,manage';

interface SignInProps {
  /** The stored key of this tab, which is tried at once. */
  readonly kept: string | undefined;
  /** The reason why the user has to sign in again. */
  readonly message: string | undefined;
  readonly onSignIn: (key: string, self: Self) => void;
  /** Continues without a key, to the API reference. */
  readonly onSkip: () => void;
}

/** Asks for a key and checks its rights. The key stays in this tab and is sent only to this service. */
export function SignInPage({ kept, message, onSignIn, onSkip }: SignInProps) {
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(kept !== undefined);
  const input = useRef<HTMLInputElement>(null);
  const tried = useRef(false);

  const signIn = async (key: string) => {
    setBusy(true);
    setFault(undefined);
    try {
      const raw = await callRaw(key, '/api/self');
      onSignIn(key, parseAnswer<Self>(raw, ['id', 'scopes', 'endpoints', 'sources', 'pins']));
    } catch (error) {
      setFault(describe(error));
      setBusy(false);
      input.current?.focus();
    }
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, with the key that was there at first
  useEffect(() => {
    if (kept === undefined || tried.current) return;
    tried.current = true;
    void signIn(kept);
  }, []);

  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    const key = input.current?.value.trim() ?? '';
    if (key === '') {
      setFault('Enter a key.');
      input.current?.focus();
      return;
    }
    // A header cannot carry other characters: the call would fail as if the service were unreachable.
    if (!/^[\x21-\x7e]+$/.test(key)) {
      setFault('This is not a key: keys have no spaces and only ASCII characters. Copy it again.');
      input.current?.focus();
      return;
    }
    void signIn(key);
  };

  return (
    <main className="sign-in">
      <form className="panel" onSubmit={onSubmit} noValidate>
        <div className="sign-in-brand">
          <Mark />
          <h1>Tailrace</h1>
        </div>
        <p className="muted">
          Sign in with an API key. It stays in this tab and is forgotten when you close it.
        </p>
        {message !== undefined && <div className="note info">{message}</div>}
        <div className="field">
          <label htmlFor="key">API key</label>
          <input
            ref={input}
            id="key"
            className="input"
            type="password"
            autoComplete="off"
            spellCheck={false}
            aria-describedby="key-help"
            aria-invalid={fault !== undefined}
            // biome-ignore lint/a11y/noAutofocus: it is the only thing to do here
            autoFocus
          />
          <div id="key-help" role="status">
            {fault !== undefined && <span className="tone-bad small">{fault}</span>}
          </div>
        </div>
        <button className="button primary" type="submit" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
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
            With <code>--scope query</code> alone, a key sees endpoints and searches events, but sees no
            numbers and no keys. The{' '}
            <Link href="/docs" onClick={onSkip}>
              API reference
            </Link>{' '}
            needs no key.
          </p>
        </div>
      </form>
    </main>
  );
}

function describe(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The console could not read the service’s response.';
  if (error.status === 401) return `This key is not accepted: ${error.message}.`;
  return error.message;
}
