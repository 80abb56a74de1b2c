/** The path of an endpoint with its parameters. */
export function queryPath(name: string, values: Readonly<Record<string, string>>): string {
  return `/api/endpoints/query/${encodeURIComponent(name)}?${new URLSearchParams(values)}`;
}
