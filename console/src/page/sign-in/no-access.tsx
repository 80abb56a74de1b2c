import { Button } from '../../ui/button.tsx';
import { Mark } from '../../ui/mark.tsx';
import './sign-in.css';

interface NoAccessProps {
  readonly name: string;
  /** The words of the service. */
  readonly why: string;
  readonly onSignOut: () => void;
}

/** Shown to a person who has signed in and may see nothing. */
export function NoAccess({ name, why, onSignOut }: NoAccessProps) {
  return (
    <main className="sign-in">
      <div className="panel">
        <div className="sign-in-brand">
          <Mark />
          <h1>Tailrace</h1>
        </div>
        <h2>You have no access</h2>
        <p>{`${why.charAt(0).toUpperCase()}${why.slice(1)}.`}</p>
        <p className="muted">You are signed in as {name}.</p>
        <Button onClick={onSignOut}>Sign out</Button>
      </div>
    </main>
  );
}
