import type { ReactNode } from 'react';
import type { ApiError } from '../api/client.ts';
import { ownMember } from '../format/own.ts';

/** Advice for a failure, by its code (docs/errors.md). */
const ADVICE: Readonly<Record<string, string>> = {
  unreachable: 'Check that the service runs at this address, and try again.',
  invalid_parameter: 'Change these values and run again.',
  forbidden: 'Sign in with a key that may do this.',
  endpoint_not_found: 'It may have been renamed or removed: choose one from the list.',
  query_failed: 'The query failed on this data. Try other values; the service’s log has the cause.',
  rate_limited: 'Wait a moment, then retry.',
  overloaded: 'The service is overloaded. Wait a moment, or query less data.',
  engine_unavailable:
    'The engine or the store of keys is unavailable; the service’s log has the reason. Try again in a moment.',
  query_timeout: 'Query a shorter range, or let the operator raise TAILRACE_QUERY_TIMEOUT_MS.',
  internal: 'The service’s log has the cause under the request id.',
};

/** The service's error message, with advice. */
export function ErrorNote({ error }: { readonly error: ApiError }) {
  const { message, code, status, errors, requestId, retryAfterSeconds } = error;
  const advice = ownMember(ADVICE, code);
  return (
    <div className="note is-bad" role="alert">
      <strong>{message}</strong>
      {errors.length > 1 && (
        <ul>
          {errors.map((one) => (
            <li key={`${one.parameter} ${one.message}`}>
              <code>{one.parameter}</code> {one.message}
            </li>
          ))}
        </ul>
      )}
      {advice !== undefined && <span>{advice}</span>}
      {status > 0 && (
        <span className="small muted">
          {status} <code>{code}</code>
          {retryAfterSeconds !== undefined && `  · retry in ${retryAfterSeconds} s`}
          {requestId !== undefined && ` · request ${requestId}`}
        </span>
      )}
    </div>
  );
}

/** Something that is not there yet: it is being read, or cannot be read. */
export function Reading({ error }: { readonly error?: ApiError | null | undefined }) {
  return error ? <ErrorNote error={error} /> : <p className="muted">Reading…</p>;
}

interface EmptyProps {
  readonly title: string;
  /** Whether it replaces a page, whose heading its title then is. */
  readonly isPage?: boolean;
  readonly children: ReactNode;
}

/** Replaces missing content: says what would be here and how to get it. */
export function Empty({ title, isPage = false, children }: EmptyProps) {
  return (
    <div className="empty">
      {isPage ? <h1>{title}</h1> : <strong>{title}</strong>}
      <p>{children}</p>
    </div>
  );
}
