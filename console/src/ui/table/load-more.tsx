import { Button } from '../button.tsx';
import './load-more.css';

interface LoadMoreProps {
  readonly label: string;
  readonly busy: boolean;
  readonly onLoad: () => void;
}

/** Loads the next page of a list. */
export function LoadMore({ label, busy, onLoad }: LoadMoreProps) {
  return (
    <div className="load-more">
      <Button disabled={busy} onClick={onLoad}>
        {busy ? 'Loading…' : label}
      </Button>
    </div>
  );
}
