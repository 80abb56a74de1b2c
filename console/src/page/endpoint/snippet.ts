import type { Language } from '../../ui/code.tsx';

export interface Snippet {
  readonly id: 'curl' | 'javascript' | 'python';
  readonly label: string;
  readonly language: Language;
  readonly text: string;
}

/** Calls of an endpoint. They never contain the key: people share them. */
export function createSnippets(
  origin: string,
  name: string,
  values: Readonly<Record<string, string>>,
): Snippet[] {
  const path = `/api/endpoints/query/${name}`;
  const entries = Object.entries(values).filter(([, value]) => value !== '');
  const query = new URLSearchParams(entries).toString();
  const url = query === '' ? origin + path : `${origin}${path}?${query}`;
  return [
    {
      id: 'curl',
      label: 'curl',
      language: 'bash',
      text: `curl -s -H "X-API-KEY: $TAILRACE_KEY" \\\n  ${quoteShell(url)}`,
    },
    {
      id: 'javascript',
      label: 'JavaScript',
      language: 'javascript',
      text: `const url = new URL(${JSON.stringify(path)}, ${JSON.stringify(origin)});
url.search = new URLSearchParams(${formatObject(entries)});

const response = await fetch(url, { headers: { 'X-API-KEY': process.env.TAILRACE_KEY } });
const body = await response.json();
if (!response.ok) throw new Error(body.error.message);
console.table(body.result);`,
    },
    {
      id: 'python',
      label: 'Python',
      language: 'python',
      text: `import json, os, urllib.parse, urllib.request

query = urllib.parse.urlencode(${formatObject(entries)})
request = urllib.request.Request(
    ${JSON.stringify(`${origin}${path}?`)} + query,
    headers={"X-API-KEY": os.environ["TAILRACE_KEY"]},
)
with urllib.request.urlopen(request) as response:
    rows = json.load(response)["result"]
print(len(rows), rows[:1])`,
    },
  ];
}

/** A string literal in JavaScript and in Python: both accept JSON's. */
function formatObject(entries: readonly (readonly [string, string])[]): string {
  if (entries.length === 0) return '{}';
  return `{\n${entries.map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`).join('')}}`;
}

/** A shell leaves everything within single quotes as it is. */
export function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
