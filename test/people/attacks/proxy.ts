import { type OutgoingHttpHeaders, request } from 'node:http';
import { createAttacks, type Kind } from './kind.ts';

/** The address of the proxy; others of this machine are those of attackers. */
const PROXY = '127.0.0.9';

export const PROXY_ENV = {
  TAILRACE_TRUST_PROXY: PROXY,
  TAILRACE_TRUSTED_USER_HEADER: 'X-Forwarded-Email',
  TAILRACE_TRUSTED_GROUPS_HEADER: 'X-Forwarded-Groups',
};

type Headers = readonly (readonly [string, string])[];

const USER = 'X-Forwarded-Email';
const GROUPS = 'X-Forwarded-Groups';
const ADA: Headers = [
  [USER, 'ada@example.com'],
  [GROUPS, 'platform'],
];

/** Headers that name a user, from elsewhere than the proxy; and beside those of the proxy, which a client has sent to it. */
export function createProxyKinds(url: string): Kind[] {
  const control = () => isIn(url, PROXY, ADA);
  const fromElsewhere = Object.fromEntries(
    ['127.0.0.1', '127.0.0.8', '127.0.0.90', '127.9.0.0'].flatMap((address) =>
      Object.entries({ ...SPELLINGS, ...CLAIMED }).map(([shape, headers]) => [
        `${shape} from ${address}`,
        { address, headers },
      ]),
    ),
  );
  const beside = Object.fromEntries(
    Object.entries(BESIDE).map(([shape, headers]) => [shape, { address: PROXY, headers }]),
  );
  return [
    {
      name: 'the header of a user from elsewhere than the proxy',
      attacks: createAttacks(fromElsewhere, ({ address, headers }) => isIn(url, address, headers)),
      control,
    },
    {
      name: 'the header of a user beside that of the proxy',
      attacks: createAttacks(beside, ({ address, headers }) => isIn(url, address, headers)),
      control,
    },
  ];
}

const SPELLINGS: Readonly<Record<string, Headers>> = Object.fromEntries(
  [
    USER,
    USER.toLowerCase(),
    USER.toUpperCase(),
    'X-Forwarded-User',
    'Remote-User',
    'X-Forwarded_Email',
    'X_Forwarded_Email',
  ].flatMap((name) =>
    ['ada@example.com', 'ada', 'root', 'private'].map((user) => [
      `${name}: ${user}`,
      [
        [name, user],
        [GROUPS, 'platform'],
      ],
    ]),
  ),
);

/** An address that the request only claims to come from. */
const CLAIMED: Readonly<Record<string, Headers>> = Object.fromEntries(
  [
    ...[PROXY, `${PROXY}, 127.0.0.1`, `127.0.0.1, ${PROXY}`, `::ffff:${PROXY}`].flatMap(
      (address): [string, string][] => [
        ['X-Forwarded-For', address],
        ['X-Real-IP', address],
        ['X-Client-IP', address],
        ['Forwarded', `for=${address}`],
      ],
    ),
    ['X-Forwarded-Host', PROXY],
    ['Via', `1.1 ${PROXY}`],
    ['Connection', USER],
    ['Connection', `close, ${GROUPS}`],
  ].map(([name = '', value = '']) => [`${name}: ${value}`, [...ADA, [name, value]]]),
);

const names = ['mal@example.com', '', 'ada@example.com'];
/** A proxy that adds its header to that of the client. */
const BESIDE: Readonly<Record<string, Headers>> = Object.fromEntries([
  ...names.flatMap((user): [string, Headers][] =>
    [USER, USER.toLowerCase(), USER.toUpperCase()].flatMap((name): [string, Headers][] => [
      [`${name}: ${user} before`, [[name, user], ...ADA]],
      [`${name}: ${user} after`, [...ADA, [name, user]]],
    ]),
  ),
  ...['platform', '', 'a,platform'].flatMap((groups): [string, Headers][] =>
    [GROUPS, GROUPS.toLowerCase()].flatMap((name): [string, Headers][] => [
      [`${name}: ${groups} before`, [[name, groups], ...ADA]],
      [`${name}: ${groups} after`, [...ADA, [name, groups]]],
    ]),
  ),
]);

/** Whether a request has the rights of the role, or of anybody. */
function isIn(url: string, localAddress: string, headers: Headers): Promise<boolean> {
  const list = headers.flat();
  const sent = ['Host', new URL(url).host, ...list] as unknown as OutgoingHttpHeaders; // Node accepts such a list, which its type omits
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/api/self`, { localAddress, headers: sent, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.once('error', reject).end();
  });
}
