import type { Registry } from '../definitions/registry.ts';
import { TailraceError } from '../errors.ts';
import type { HistoryVersionView, HistoryView } from '../management/history-view.ts';
import { hashText, versionOf } from './files.ts';
import { HISTORY_KINDS, type History, type HistoryKind, type KeptVersion } from './history.ts';

export interface HistoryParts {
  readonly registry: Pick<Registry, 'getEndpoint' | 'getAlert' | 'getDashboard'>;
  readonly history: Pick<History, 'list'>;
}

interface Named {
  /** One of HISTORY_KINDS. */
  readonly kind: string;
  readonly name: string;
}

/** Lists the kept versions of a definition, newest first. @throws TailraceError `not_found`, `endpoint_not_found` */
export async function listHistory(parts: HistoryParts, named: Named): Promise<HistoryView> {
  return { result: (await read(parts, named)).map(toView) };
}

/** Reads a kept version of a definition. @throws as `listHistory` */
export async function readHistory(
  parts: HistoryParts,
  { id, ...named }: Named & { readonly id: string },
): Promise<HistoryVersionView> {
  const found = (await read(parts, named)).find((version) => version.id === id);
  if (found === undefined)
    throw new TailraceError('not_found', `${named.name} has no version ${JSON.stringify(id.slice(0, 100))}`);
  return { ...toView(found), definition: found.definition, sql: found.sql ?? null };
}

async function read({ registry, history }: HistoryParts, { kind, name }: Named) {
  const known = HISTORY_KINDS.find((one) => one === kind);
  if (known === undefined)
    throw new TailraceError('not_found', `there is no history of this kind; use ${HISTORY_KINDS.join(', ')}`);
  const find: Readonly<Record<HistoryKind, (name: string) => { readonly id: string }>> = {
    endpoints: registry.getEndpoint,
    alerts: registry.getAlert,
    dashboards: registry.getDashboard,
  };
  return await history.list({ kind: known, id: find[known](name).id });
}

function toView({ id, at_ms: atMs, by, definition, sql }: KeptVersion): HistoryView['result'][number] {
  const version = sql === undefined ? hashText(definition) : versionOf({ definition, sql });
  return { id, at: new Date(atMs).toISOString(), by, version };
}
