import type { ApiError } from '../api/client.ts';

/** Advice for a failure, by its code (docs/errors.md). */
const ADVICE: Readonly<Record<string, string>> = {
  unreachable: 'Check that the service runs and that this page is still on its address, and try again.',
  invalid_parameter: 'Change the values that are named and run it again.',
  forbidden: 'Sign in with a key that may do this, or ask whoever gave you this one.',
  endpoint_not_found: 'It may have been renamed or taken away: choose one from the list.',
  query_failed:
    'The stored query failed on this data. Try other values; its author finds the cause in the service’s log.',
  rate_limited: 'Wait a moment before the next try.',
  overloaded: 'The engine has too much to do. Wait a moment, or ask for less.',
  engine_unavailable:
    'The engine is away, or the store of keys; the service’s log says which and why. Try again in a moment.',
  query_timeout: 'Ask for a shorter time, or let whoever runs the service raise TAILRACE_QUERY_TIMEOUT_MS.',
  internal: 'Whoever runs the service finds the cause in its log under the request id.',
};

/** The service's error message, with advice. */
export function ErrorNote({ error }: { readonly error: ApiError }) {
  const { message, code, status, errors, requestId, retryAfterSeconds } = error;
  const advice = ADVICE[code];
  return (
    <div className="note bad" role="alert">
      <strong>{message}</strong>
      {errors.length > 1 && (
        <ul>
          {errors.map((one) => (
            <li key={one.parameter}>
              <code>{one.parameter}</code> {one.message}
            </li>
          ))}
        </ul>
      )}
      {advice !== undefined && <span>{advice}</span>}
      {status > 0 && (
        <span className="small muted">
          {status} <code>{code}</code>
          {retryAfterSeconds !== undefined && ` · again in ${retryAfterSeconds} s`}
          {requestId !== undefined && ` · request ${requestId}`}
        </span>
      )}
    </div>
  );
}
