import { createWeighted } from '../../lib/random.ts';
import { type Description, isoInstant, type Moment } from '../kind.ts';
import { VISITORS } from '../visitor.ts';

interface AuthRequest {
  readonly method: string;
  readonly path: string;
  /** What goes wrong when the caller is refused, and how that is answered. */
  readonly refusal: string;
  readonly refused: number;
  readonly medianMs: number;
}

const pickRequest = createWeighted<AuthRequest>([
  [
    45,
    {
      method: 'POST',
      path: '/token',
      refusal: 'invalid_grant: Invalid Refresh Token',
      refused: 400,
      medianMs: 38,
    },
  ],
  [32, { method: 'GET', path: '/user', refusal: 'invalid JWT: token is expired', refused: 403, medianMs: 7 }],
  [9, { method: 'POST', path: '/otp', refusal: 'email rate limit exceeded', refused: 429, medianMs: 240 }],
  [6, { method: 'POST', path: '/signup', refusal: 'User already registered', refused: 422, medianMs: 160 }],
  [8, { method: 'POST', path: '/logout', refusal: 'session not found', refused: 404, medianMs: 12 }],
]);

/** A request at a project's auth server, as `gotrue.logs.prod` has it: the message is the log line itself, JSON. */
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
