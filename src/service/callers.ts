import { createKeyring } from '../keys/keyring.ts';
import { CONTROL_STALE_MS, openControlStore } from '../keys/open-control-store.ts';
import { createTokens, openTokenSecret } from '../keys/token.ts';
import { createThrottle } from '../lib/task.ts';
import { createAuthenticate, createLoginSeal, createReadAmbient } from '../people/credential.ts';
import { createProvider, explain } from '../people/provider.ts';
import { createPeopleCallers } from '../people/role.ts';
import { createSessions } from '../people/sessions.ts';
import { createSignIn } from '../people/sign-in.ts';
import type { Context } from './context.ts';

const LOG_AGAIN_MS = 1_000;
// A working day with its breaks; a browser that is left alone is soon of no use.
const IDLE_MS_MAX = 8 * 3_600_000;

/**
 * Opens the keys, their audit trail, and the secret that signs tokens.
 * @param localKey the key of the commands on this machine
 */
export async function openKeys(
  context: Pick<Context, 'config' | 'logger' | 'now' | 'startTask' | 'opened'>,
  localKey: string | undefined,
): Promise<Pick<Context, 'control' | 'keyring' | 'secret'>> {
  const { config, logger, now, startTask, opened } = context;
  const control = await openControlStore(config, (failure) => {
    if (failure === undefined) logger.info('the control store is available again');
    else logger.error({ err: failure }, 'the control store is unavailable: keys cannot be read or changed');
  });
  opened.defer(control.close);
  const secret = openTokenSecret(config.dataDir, config.tokenSecret);
  const tokens = createTokens({ secret, now });
  const keyring = createKeyring({ ...config, localKey, store: control, tokens, now });
  startTask({ name: 'key-use', everyMs: 60_000, run: keyring.flush, runsAtEnd: true });
  return { control, keyring, secret };
}

export type People = ReturnType<typeof openPeople>;

/** Opens what people and keys sign in with: sessions, roles, the provider. */
export function openPeople(context: Context) {
  const { config, control, core, files, keyring, logger, now, secret, startTask } = context;
  const { roles } = files;
  const callers = createPeopleCallers(roles.current);
  const sessions = createSessions({
    store: control.sessions,
    keyring,
    callerOf: callers.ofSession,
    limits: { idleMs: IDLE_MS_MAX, staleMs: CONTROL_STALE_MS },
    acceptsKeys: config.consoleKeys === '1',
    onFailure: (error) => logger.warn({ err: error }, 'the last use of a session could not be written'),
    now,
  });
  const provider = openProvider(context);
  const throttle = createThrottle(now, LOG_AGAIN_MS); // anyone can fail to sign in
  const signIn = createSignIn({
    ...{ provider, sessions, keyring, control, now },
    seal: createLoginSeal(secret, now),
    onFailure: (error) => throttle(() => logger.warn({ reason: explain(error) }, 'a sign-in has failed')),
  });
  startTask({ name: 'old-sessions', everyMs: 600_000, run: sessions.removeOld });
  if (config.rolesFile !== '') {
    const { registry } = core;
    const follow = async () => {
      const faults = await roles.follow(registry);
      if (faults === undefined) return;
      if (faults.length === 0) logger.info('the file of roles was read again');
      else logger.error({ faults }, 'the roles file is not valid: people who sign in have no access');
    };
    startTask({ name: 'roles', everyMs: 1_000, run: follow });
  }
  return {
    sessions,
    signIn,
    authenticate: createAuthenticate({ keyring, sessions, callers }),
    readAmbient: createReadAmbient(config),
  };
}

const NO_PROVIDER = 'TAILRACE_OIDC_ISSUER does not respond as a provider; sign-ins ask it again';

function openProvider({ config, logger, now }: Context) {
  if (config.oidcIssuer === '') return undefined;
  const provider = createProvider(config, `${config.publicUrl}/auth/callback`, now);
  // The service starts without it, and the next sign-in asks again.
  provider.check().catch((error: unknown) => logger.warn({ reason: explain(error) }, NO_PROVIDER));
  return provider;
}
