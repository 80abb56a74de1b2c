import { createWeighted } from '../../lib/random.ts';
import { type Description, isoInstant, type Moment } from '../kind.ts';
import { VISITORS } from '../visitor.ts';

interface AuthRequest {
  readonly method: string;
  readonly path: string;
  readonly medianMs: number;
  /** Message and status of a rejected request. */
  readonly refusal: string;
  readonly refused: number;
}

const REQUESTS = [
  [45, 'POST', '/token', 38, 'invalid_grant: Invalid Refresh Token', 400],
  [32, 'GET', '/user', 7, 'invalid JWT: token is expired', 403],
  [9, 'POST', '/otp', 240, 'email rate limit exceeded', 429],
  [6, 'POST', '/signup', 160, 'User already registered', 422],
  [8, 'POST', '/logout', 12, 'session not found', 404],
] as const;

const pickRequest = createWeighted<AuthRequest>(
  REQUESTS.map(([weight, method, path, medianMs, refusal, refused]) => [
    weight,
    { method, path, medianMs, refusal, refused },
  ]),
);

/** A request at a project's auth server, in `gotrue.logs.prod`: the message is the log line itself, as JSON. */
export function describeAuthRequest({ random, project, at, failing }: Moment): Description {
  const { method, path, refusal, refused, medianMs } = pickRequest(random);
  const failed = failing && random.chance(0.4);
  const status = failed ? 500 : random.chance(0.05) ? refused : 200;
  const line = {
    component: 'api',
    duration: Math.round(random.logNormal(medianMs, 0.5) * 1_000_000),
    error: failed ? 'failed to connect to database' : status === 200 ? null : refusal,
    level: failed ? 'error' : status === 200 ? 'info' : 'warning',
    method,
    msg: 'request completed',
    path,
    referer: `https://app.${project.host}`,
    remote_addr: random.pick(VISITORS).address,
    request_id: random.uuid(),
    status,
    time: isoInstant(at),
  };
  return { message: JSON.stringify(line), metadata: { ...line, host: `auth-${project.ref}`, metadata: [] } };
}
