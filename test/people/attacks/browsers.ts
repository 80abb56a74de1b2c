import { createBrowserClient } from '../../support/browser-client.ts';
import { createAttacks, type Kind, lookAlikes } from './kind.ts';
import { type Browser, begin, nameIn, type People, passReal } from './visit.ts';

const VICTIM = 'Vic';
const ATTACKER = 'Mal';

/** Attacks on the browser of somebody else, with a real provider and an attacker who has an account there. */
export function createBrowserKinds(people: People): Kind[] {
  people.provider.accounts.set('vic', { name: VICTIM, groups: ['platform'] });
  people.provider.accounts.set('mal', { name: ATTACKER, groups: ['support'] });
  return [loginCsrf(people), codeReplay(people), fixation(people)];
}

/** Brings a browser to a state in which it may meet an attack. */
type Prepare = (people: People, browser: Browser) => unknown;

const signIn = async (people: People, browser: Browser, account: string) => {
  await browser.send(await passReal(people, browser, account));
};

const BROWSERS: Readonly<Record<string, Prepare>> = {
  'a new browser': () => {},
  'a browser that has begun a sign-in': begin,
  'a browser at the end of its sign-in': async (people, browser) => await passReal(people, browser, 'vic'),
  'a browser that has signed in': async (people, browser) => await signIn(people, browser, 'vic'),
  'a browser that has signed in and begins again': async (people, browser) => {
    await signIn(people, browser, 'vic');
    await begin(people, browser);
  },
};

/** What an attacker may change of the response for its own account. @param own state of the sign-in of the victim, if it has begun one */
type Change = (response: URLSearchParams, own: string) => void;

const CHANGES: Readonly<Record<string, Change>> = {
  'as it is': () => {},
  'with the state of the victim': (response, own) => response.set('state', own),
  'with both states': (response, own) => response.append('state', own),
  'with both states, that of the victim first': (response, own) => {
    const state = response.get('state') ?? '';
    response.set('state', own);
    response.append('state', state);
  },
  'without a state': (response) => response.delete('state'),
  'with an empty state': (response) => response.set('state', ''),
  'without an issuer': (response) => response.delete('iss'),
  'with the state of the victim and without an issuer': (response, own) => {
    response.set('state', own);
    response.delete('iss');
  },
  'with two codes': (response) => response.append('code', 'another'),
  'with the state of the victim and two codes': (response, own) => {
    response.set('state', own);
    response.append('code', response.get('code') ?? '');
  },
};

/** The attacker ends its own sign-in in the browser of the victim, whose searches and keys it would read later. */
function loginCsrf(people: People): Kind {
  const shapes = Object.fromEntries(
    Object.entries(BROWSERS).flatMap(([browser, prepare]) =>
      Object.entries(CHANGES).map(([change, apply]) => [`${browser}, ${change}`, { prepare, apply }]),
    ),
  );
  return {
    name: 'login CSRF',
    attacks: createAttacks(shapes, async ({ prepare, apply }) => {
      const victim = createBrowserClient();
      const page = await prepareIn(people, victim, prepare);
      const response = new URL(await passReal(people, createBrowserClient(), 'mal'));
      apply(response.searchParams, stateOf(page));
      await victim.send(response.href);
      return (await nameIn(people, victim)) === ATTACKER;
    }),
    async control() {
      const attacker = createBrowserClient();
      await attacker.send(await passReal(people, attacker, 'mal'));
      return (await nameIn(people, attacker)) === ATTACKER;
    },
  };
}

async function prepareIn(people: People, browser: Browser, prepare: Prepare): Promise<string> {
  const page = await prepare(people, browser);
  return typeof page === 'string' ? page : '';
}

function stateOf(url: string): string {
  return URL.canParse(url) ? (new URL(url).searchParams.get('state') ?? '') : 'a-state';
}

/** Somebody who has read a response of the provider, from a history or a log, uses it again. */
function codeReplay(people: People): Kind {
  const shapes = Object.fromEntries(
    Object.entries(REPLAYS).flatMap(([name, replay]) =>
      [true, false].map((isUsed) => [
        `${name}, ${isUsed ? 'after' : 'before'} the victim`,
        { replay, isUsed },
      ]),
    ),
  );
  return {
    name: 'code replay',
    attacks: createAttacks(shapes, async ({ replay, isUsed }) => {
      const victim = createBrowserClient();
      const response = await passReal(people, victim, 'vic');
      if (isUsed) await victim.send(response);
      const thief = createBrowserClient();
      await thief.send(await replay(people, new URL(response), thief));
      return (await nameIn(people, thief)) === VICTIM;
    }),
    async control() {
      const victim = createBrowserClient();
      await victim.send(await passReal(people, victim, 'vic'));
      return (await nameIn(people, victim)) === VICTIM;
    },
  };
}

/** @returns the URL that the thief opens */
type Replay = (people: People, response: URL, thief: Browser) => Promise<string>;

/** The code of the victim in a sign-in of the thief. */
const inOwn =
  (change: (own: URLSearchParams, response: URLSearchParams) => void): Replay =>
  async (people, response, thief) => {
    const own = new URL(await passReal(people, thief, 'mal'));
    own.searchParams.set('code', response.searchParams.get('code') ?? '');
    change(own.searchParams, response.searchParams);
    return own.href;
  };

const REPLAYS: Readonly<Record<string, Replay>> = {
  'as it is': async (_, response) => response.href,
  'without a state': async (_, response) => {
    response.searchParams.delete('state');
    return response.href;
  },
  'in a sign-in of the thief': inOwn(() => {}),
  'in a sign-in of the thief, with the state of the victim': inOwn((own, response) =>
    own.set('state', response.get('state') ?? ''),
  ),
  'in a sign-in of the thief, with both states': inOwn((own, response) =>
    own.append('state', response.get('state') ?? ''),
  ),
  'in a sign-in of the thief, without an issuer': inOwn((own) => own.delete('iss')),
  'in a sign-in of the thief, with an error': inOwn((own) => own.set('error', '')),
  'in a sign-in of the thief that has ended': async (people, response, thief) => {
    await signIn(people, thief, 'mal');
    return response.href;
  },
  'in a sign-in of the thief, by a path with a slash': async (people, response, thief) => {
    const href = await inOwn(() => {})(people, response, thief);
    return href.replace('/auth/callback', '/auth/callback/');
  },
  'with the code as the cookie': async ({ url }, response, thief) => {
    const code = response.searchParams.get('code') ?? '';
    thief.jarOf(url).set(`tailrace-${response.port}`, code);
    thief.jarOf(url).set(`tailrace-${response.port}-login`, code);
    return response.href;
  },
};

const SECRET = 'ts_0123456789ab_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

/** The attacker knows the cookie that the victim's browser has before its sign-in. */
function fixation(people: People): Kind {
  const port = new URL(people.url).port;
  const names = [`tailrace-${port}`, `tailrace-${port}-login`, '__Host-tailrace'];
  const shapes = Object.fromEntries(
    names.flatMap((name) =>
      Object.entries({ right: SECRET, ...lookAlikes(SECRET) })
        .filter(([, value]) => !/[\0\r\n]/.test(value)) // no browser keeps such a cookie
        .map(([shape, value]) => [`${name}, ${shape}`, { name, value }]),
    ),
  );
  return {
    name: 'session fixation',
    attacks: createAttacks(shapes, async ({ name, value }) => {
      const victim = createBrowserClient();
      victim.jarOf(people.url).set(name, value);
      const response = await passReal(people, victim, 'vic');
      victim.jarOf(people.url).set(name, value); // that of the sign-in, too
      await victim.send(response);
      return (
        (await nameWith(people, names[0] ?? '', value)) === VICTIM ||
        (await nameWith(people, name, value)) === VICTIM
      );
    }),
    async control() {
      const victim = createBrowserClient();
      await signIn(people, victim, 'vic');
      const [[name = '', value = ''] = []] = victim.jarOf(people.url);
      return (await nameWith(people, name, value)) === VICTIM;
    },
  };
}

async function nameWith(people: People, name: string, value: string): Promise<string | undefined> {
  const browser = createBrowserClient();
  browser.jarOf(people.url).set(name, value);
  return await nameIn(people, browser);
}
