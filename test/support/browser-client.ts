/** What a browser does with cookies and redirects, without one: each host and port has its own jar. */
export function createBrowserClient() {
  const jars = new Map<string, Map<string, string>>();

  function jarOf(url: string): Map<string, string> {
    const { host } = new URL(url);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    return jar;
  }

  function keep(url: string, headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      const isGone = /max-age=0(?:;|$)/i.test(line) || /expires=Thu, 01 Jan 1970/i.test(line);
      if (isGone) jarOf(url).delete(name);
      else jarOf(url).set(name, value);
    }
  }

  /** The header `Cookie` of a request. */
  function cookieOf(url: string): string {
    return [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** One request, without following a redirect. */
  async function send(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const cookie = cookieOf(url);
    if (cookie !== '') headers.set('cookie', cookie);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    keep(url, response.headers);
    return response;
  }

  /** Follows redirects, up to a URL that `until` matches, which is not asked for. @returns the last URL */
  async function follow(url: string, until: (url: string) => boolean = () => false): Promise<string> {
    let next = url;
    for (let hops = 0; hops < 20; hops++) {
      if (until(next)) return next;
      const response = await send(next);
      const location = response.headers.get('location');
      await response.arrayBuffer();
      if (location === null) return next;
      next = new URL(location, next).href;
    }
    throw new Error(`too many redirects, the last to ${next}`);
  }

  return { send, follow, jarOf, cookieOf };
}
