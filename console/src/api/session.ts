const NAME = 'tailrace.key';

/** The key that was signed in with; it is kept for this tab only and goes with it. */
export function readKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

export function keepKey(key: string | undefined): void {
  if (key === undefined) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
}
