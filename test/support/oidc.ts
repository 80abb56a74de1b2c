import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';
import { findFreePort as freePort } from '../../trial/free-port.ts';

/** Provider and service have to know each other's port before they start. */
export { freePort };

export const CLIENT_ID = 'tailrace';
export const CLIENT_SECRET = 'a-secret-of-the-tests-0123456789abcdef';

/** Claims of an account; `sub` is its name. */
export type Account = Readonly<Record<string, unknown>>;

const PATH = '/realms/main';

/** The page that asks before a sign-out: that of the package loads fonts from elsewhere. */
const logoutSource: NonNullable<NonNullable<Configuration['features']>['rpInitiatedLogout']>['logoutSource'] =
  (context, form) => {
    context.body = `${form}<button type="submit" form="op.logoutForm" name="logout" value="yes">Yes</button>`;
  };

/**
 * A real provider of OpenID Connect over loopback, whose issuer has a path. It signs in whoever `as` names, without asking.
 *
 * @param serviceUrl to which it sends browsers back
 */
export async function startProvider(serviceUrl: string) {
  const own = await freePort();
  const issuer = `http://127.0.0.1:${own}${PATH}`;
  const accounts = new Map<string, Account>();
  const state = { as: 'ada' };
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const keys = [{ ...(await exportJWK(privateKey)), kid: 'own', alg: 'RS256', use: 'sig' }];
  const configuration: Configuration = {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [`${serviceUrl}/auth/callback`],
        post_logout_redirect_uris: [`${serviceUrl}/`],
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
    jwks: { keys },
    cookies: { keys: ['a key of the tests'] },
    claims: {
      openid: ['sub'],
      profile: ['name', 'groups', 'kind', 'projects', 'preferred_username'],
      email: ['email', 'email_verified'],
    },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
    pkce: { required: () => true },
    findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ ...accounts.get(id), sub: id }) }),
    interactions: { url: (_ctx, { uid }) => `${PATH}/interaction/${uid}` },
    async loadExistingGrant(ctx) {
      const { session, client } = ctx.oidc;
      if (session?.accountId === undefined || client === undefined) return undefined;
      const grant = new ctx.oidc.provider.Grant({
        clientId: client.clientId,
        accountId: session.accountId,
      });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  };
  const provider = new Provider(issuer, configuration);
  provider.on('server_error', (_ctx, error) => console.error(error));

  async function handle(request: IncomingMessage & { originalUrl?: string }, response: ServerResponse) {
    request.originalUrl = request.url ?? '';
    request.url = request.originalUrl.slice(PATH.length) || '/';
    if (request.url.startsWith('/interaction/')) {
      const result = { login: { accountId: state.as } };
      return await provider.interactionFinished(request, response, result, {
        mergeWithLastSubmission: false,
      });
    }
    provider.callback()(request, response);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      console.error(error);
      response.writeHead(500).end();
    });
  });
  const listen = async () => void (await once(server.listen(own, '127.0.0.1'), 'listening'));
  await listen();
  return {
    issuer,
    /** Claims by the name of the account. */
    accounts,
    state,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
    listen,
  };
}
