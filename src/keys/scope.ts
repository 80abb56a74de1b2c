/** What a key may do: read endpoints, send events, manage the service. */
export const SCOPES = ['query', 'ingest', 'manage'] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}
