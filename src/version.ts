import { readFileSync } from 'node:fs';

/** Reads Tailrace's version from package.json, which lies as far above this file as above the built one. */
export function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
