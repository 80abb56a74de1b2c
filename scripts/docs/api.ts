import { readFileSync } from 'node:fs';
import { methodsOf, pathsOf, type Route } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { SCOPES } from '../../src/keys/grant.ts';
import { table } from './page.ts';

const START = '<!-- Routes: made by `npm run docs` from src/http/routes/; edit those instead. -->';
const END = '<!-- End of routes. -->';

/** docs/api.md with the table of the routes as they are defined. @throws Error if the page has no place for it */
export function apiPage(): string {
  const text = readFileSync('docs/api.md', 'utf8');
  const [before, rest] = text.split(START);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/api.md must have ${START} and ${END}`);
  const rows = ROUTES.map((route) => [
    methodsOf(route).join(', '),
    pathsOf(route).map(showPath).join(', '),
    showKey(route),
    route.summary,
  ]);
  return `${before}${START}\n\n${table(['Method', 'Path', 'Key', 'What'], rows)}\n\n${END}${after}`;
}

/** `:id` as `<id>`, `*` as `<file>`. */
function showPath(path: string): string {
  return `\`${path.replaceAll(/:(\w+)/g, '<$1>').replace('*', '<file>')}\``;
}

function showKey({ scopes }: Route): string {
  if (scopes === 'none') return 'none';
  if (scopes === 'optional') return 'none, or any';
  if (scopes.length === SCOPES.length) return 'any';
  return `scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}`;
}
