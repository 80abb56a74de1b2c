import { createProvider } from '../../../src/people/provider.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../../support/oidc.ts';
import { createAttacks, type Kind, lookAlikes } from './kind.ts';
import { type Lying, passLying } from './visit.ts';

/** Responses, ID tokens and descriptions of another provider than the one that was asked. */
export function createIssuerKinds(people: Lying): Kind[] {
  const { issuer } = people.provider;
  const others = { ...lookAlikes(issuer), ...otherUrls(issuer) };
  // A provider may spell its own address in another way.
  const isOther = (text: string) => !URL.canParse(text) || new URL(text).href !== new URL(issuer).href;
  const described = Object.fromEntries(Object.entries(others).filter(([, text]) => isOther(text)));
  const control = () => passLying(people, { issuer, iss: issuer });
  return [
    {
      name: 'ID tokens of another issuer',
      attacks: createAttacks(others, (other) => passLying(people, { issuer: other })),
      control,
    },
    {
      name: 'responses of another issuer',
      // An empty parameter of a response counts as missing, and the provider promises to send it.
      attacks: createAttacks(others, (iss) => passLying(people, {}, { iss })),
      control,
    },
    {
      name: 'descriptions of another issuer',
      attacks: createAttacks(described, (other) => canDiscover(people, other)),
      control: () => canDiscover(people, issuer),
    },
  ];
}

/** Whether a provider that describes itself so is asked to sign somebody in. */
async function canDiscover({ provider: { issuer, lie }, url }: Lying, described: string): Promise<boolean> {
  const settings = {
    oidcIssuer: issuer,
    oidcClientId: CLIENT_ID,
    oidcClientSecret: CLIENT_SECRET,
    oidcScopes: 'openid',
  };
  const provider = createProvider({ settings, redirectUrl: `${url}/auth/callback`, ticks: () => 0 });
  lie.now = { described };
  try {
    return (await provider.findSignInUrl(await provider.createSecrets())) !== '';
  } catch {
    return false;
  } finally {
    lie.now = {};
  }
}

function otherUrls(issuer: string): Record<string, string> {
  const { host, port } = new URL(issuer);
  return {
    'with a slash': `${issuer}/`,
    'with a path': `${issuer}/realms/other`,
    'with a query': `${issuer}?a`,
    'with a fragment': `${issuer}#a`,
    'over HTTPS': `https://${host}`,
    'by a name': `http://localhost:${port}`,
    'by IPv6': `http://[::1]:${port}`,
    'by a short address': `http://127.1:${port}`,
    'with a user': `http://a@${host}`,
    'before another host': `${issuer}.evil.example`,
    'as a user of another host': `${issuer}@evil.example`,
    'as a path of another host': `https://evil.example/${issuer}`,
    'of another host': 'https://evil.example',
    'of another port': `http://127.0.0.1:${Number(port) + 1}`,
    'in a template': 'http://127.0.0.1/{tenantid}',
  };
}
