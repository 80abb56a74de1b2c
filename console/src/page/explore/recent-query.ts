const COUNT_MAX = 10;

const nameOf = (keyId: string) => `tailrace.recent.${keyId}`;

/** Keeps a search among the last ones of a key in this browser tab. @returns them, the newest first */
export function keepRecent(keyId: string, text: string): readonly string[] {
  const others = readRecent(keyId).filter((other) => other !== text);
  const recent = (text === '' ? others : [text, ...others]).slice(0, COUNT_MAX);
  sessionStorage.setItem(nameOf(keyId), JSON.stringify(recent));
  return recent;
}

function readRecent(keyId: string): readonly string[] {
  const kept: unknown = JSON.parse(sessionStorage.getItem(nameOf(keyId)) ?? '[]');
  return Array.isArray(kept) ? kept.filter((text) => typeof text === 'string') : [];
}
