const NAME = 'tailrace.key';

/** The signed-in key, in the session storage of this tab: for services that open no session for it. */
export function readKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

export function keepKey(key: string | undefined): void {
  if (key === undefined) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
}

/** What a person with several projects has chosen, in this tab. */
export type Choices = Readonly<Record<string, string>>;

const CHOICES_NAME = 'tailrace.choices';

export function readChoices(): Choices {
  return JSON.parse(sessionStorage.getItem(CHOICES_NAME) ?? '{}') as Choices; // only keepChoices writes it
}

export function keepChoices(choices: Choices): void {
  sessionStorage.setItem(CHOICES_NAME, JSON.stringify(choices));
}

/** Adds the choices to a path of the API, unless it has others. */
export function withChoices(path: string, choices: Choices): string {
  const start = path.indexOf('?');
  const parameters = new URLSearchParams(start === -1 ? '' : path.slice(start));
  const missing = Object.entries(choices).filter(([name]) => !parameters.has(name));
  if (missing.length === 0) return path;
  return `${path}${start === -1 ? '?' : '&'}${new URLSearchParams(missing)}`;
}

const CHANNEL = 'tailrace.session';

export function announceSignOut(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage('signed-out');
  channel.close();
}

/** Calls back when another tab has signed out. @returns a function that ends it */
export function onSignOutElsewhere(listener: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = listener;
  return () => channel.close();
}
