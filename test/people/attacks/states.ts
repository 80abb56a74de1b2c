import { createBrowserClient } from '../../support/browser-client.ts';
import { createAttacks, type Kind, lookAlikes } from './kind.ts';
import { type Browser, begin, type Lying, nameIn, passLying } from './visit.ts';

/** Responses with another state than that of the browser, and responses that come a second time. */
export function createStateKinds(people: Lying): Kind[] {
  const control = () => passLying(people, {});
  const shapes = Object.keys(lookAlikes('a'));
  return [
    {
      name: 'states that resemble the right one',
      attacks: createAttacks(Object.fromEntries(shapes.map((shape) => [shape, shape])), async (shape) => {
        const browser = createBrowserClient();
        const page = await begin(people, browser);
        const right = new URL(page).searchParams.get('state') ?? '';
        return await comesIn(
          people,
          browser,
          people.provider.pass(page, { state: lookAlikes(right)[shape] ?? '' }),
        );
      }),
      control,
    },
    { name: 'a response that comes again', attacks: createAttacks(AGAIN, (again) => again(people)), control },
  ];
}

async function comesIn(people: Lying, browser: Browser, back: string): Promise<boolean> {
  await browser.send(back);
  return (await nameIn(people, browser)) !== undefined;
}

type Again = (people: Lying) => Promise<boolean>;

/** @param change of a response that was good once, for a browser which has the cookie that was good with it */
const again =
  (change: (back: URL) => void, prepare: (people: Lying, thief: Browser) => unknown = () => {}): Again =>
  async (people) => {
    const browser = createBrowserClient();
    const back = people.provider.pass(await begin(people, browser));
    const kept = [...browser.jarOf(people.url)];
    if (!(await comesIn(people, browser, back))) throw new Error('the first response was rejected');
    const thief = createBrowserClient();
    for (const [name, value] of kept) thief.jarOf(people.url).set(name, value);
    await prepare(people, thief);
    const url = new URL(back);
    change(url);
    people.clock.now += 5_000;
    return await comesIn(people, thief, url.href);
  };

const set =
  (name: string, value: string) =>
  ({ searchParams }: URL) =>
    searchParams.set(name, value);
/** The lying provider accepts any code any number of times: that the sign-in is over has to be enough. */
const AGAIN: Readonly<Record<string, Again>> = {
  'as it was': again(() => {}),
  'with another code': again(set('code', 'another')),
  'with an empty code': again(set('code', '')),
  'without a code': again(({ searchParams }) => searchParams.delete('code')),
  'with two codes': again(({ searchParams }) => searchParams.append('code', 'another')),
  'with two states': again(({ searchParams }) => searchParams.append('state', 'another')),
  'with one more parameter': again(set('session_state', 'a')),
  'with an error beside the code': again(set('error', 'none')),
  'with an ID token in the URL': again(set('id_token', 'a.b.c')),
  'with an access token in the URL': again(set('access_token', 'a')),
  'without its cookie': again(
    () => {},
    (people, thief) => thief.jarOf(people.url).clear(),
  ),
  'hours later': again(
    () => {},
    (people) => {
      people.clock.now += 3_600_000;
    },
  ),
  'in a browser that has begun another sign-in': again(
    () => {},
    async (people, thief) => await begin(people, thief),
  ),
  'with a cookie that is cut': again(
    () => {},
    changeCookie((value) => value.slice(0, -4)),
  ),
  'with a cookie that has one more': again(
    () => {},
    changeCookie((value) => `${value}A`),
  ),
  'with a cookie of another part': again(
    () => {},
    changeCookie((value) => value.replace(/\.[^.]+$/, '.AAAA')),
  ),
  'with a cookie of another algorithm': again(
    () => {},
    changeCookie((value) =>
      value.replace(/^[^.]*/, Buffer.from('{"alg":"none","enc":"A256GCM"}').toString('base64url')),
    ),
  ),
};

function changeCookie(change: (value: string) => string) {
  return ({ url }: Lying, thief: Browser) => {
    const jar = thief.jarOf(url);
    for (const [name, value] of [...jar]) jar.set(name, change(value));
  };
}
