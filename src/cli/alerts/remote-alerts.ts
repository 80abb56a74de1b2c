import type { AlertEntryView, AlertView, SilenceView } from '../../management/alert-view.ts';
import { callRemote, openRemote, type Remote } from '../remote.ts';

// The most of one page of the route.
const PAGE_MAX = 1_000;

interface Listed<T> {
  readonly result: readonly T[];
}

/** Lists the alerts of a running service. @throws as `queryRemote` */
export async function listRemoteAlerts(remote: Remote, signal: AbortSignal): Promise<readonly AlertView[]> {
  const { result } = (await callRemote(remote, '/api/alerts', { signal })) as Listed<AlertView>; // by its route
  return result;
}

/** Reads the newest entries of a history, page by page. @throws as `queryRemote` */
export async function listRemoteHistory(
  remote: Remote,
  { name, limit }: { readonly name: string; readonly limit: number },
  signal: AbortSignal,
): Promise<readonly AlertEntryView[]> {
  const entries: AlertEntryView[] = [];
  for (;;) {
    const size = Math.min(limit - entries.length, PAGE_MAX);
    const page = new URLSearchParams({ limit: String(size) });
    const last = entries.at(-1);
    if (last !== undefined) page.set('before', last.id);
    const path = `${pathOf(name)}/history?${page}`;
    const { result } = (await callRemote(remote, path, { signal })) as Listed<AlertEntryView>; // by its route
    entries.push(...result);
    if (result.length < size || entries.length === limit) return entries;
  }
}

export interface NewSilence {
  /** `undefined`: every alert. */
  readonly name: string | undefined;
  readonly until: string;
  readonly comment: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** @throws as `queryRemote` */
export async function silenceRemoteAlert(
  remote: Remote,
  { name, ...body }: NewSilence,
  signal: AbortSignal,
): Promise<SilenceView> {
  return (await callRemote(remote, silencesPath(name), { body, signal })) as SilenceView; // by its route
}

/** @param end id of a silence, or `all` @returns how many have ended @throws as `queryRemote` */
export async function endRemoteSilences(
  remote: Remote,
  { name, end }: Pick<NewSilence, 'name'> & { readonly end: string },
  signal: AbortSignal,
): Promise<number> {
  const ids = end === 'all' ? (await listRemoteSilences(remote, name, signal)).map(({ id }) => id) : [end];
  for (const id of ids) {
    const path = `${silencesPath(name)}/${encodeURIComponent(id)}`;
    await openRemote(remote, path, { method: 'DELETE', headers: {}, signal });
  }
  return ids.length;
}

/** The result of a test: what happened to each receiver's message, and how many instances fire. */
export interface RemoteTest {
  readonly result: Readonly<Record<string, string>>;
  readonly firing: number;
  readonly last_error: string | null;
}

/** Has the service evaluate an alert, and send its receivers a message that is marked as a test. @throws as `queryRemote` */
export async function testRemoteAlert(
  remote: Remote,
  name: string,
  signal: AbortSignal,
): Promise<RemoteTest> {
  return (await callRemote(remote, `${pathOf(name)}/test`, { body: {}, signal })) as RemoteTest; // by its route
}

async function listRemoteSilences(
  remote: Remote,
  name: string | undefined,
  signal: AbortSignal,
): Promise<readonly SilenceView[]> {
  if (name === undefined)
    return ((await callRemote(remote, silencesPath(name), { signal })) as Listed<SilenceView>).result; // by its route
  const { silences } = (await callRemote(remote, pathOf(name), { signal })) as AlertView; // by its route
  return silences.filter((silence) => !silence.is_of_every_alert);
}

function silencesPath(name: string | undefined): string {
  return name === undefined ? '/api/silences' : `${pathOf(name)}/silences`;
}

function pathOf(name: string): string {
  return `/api/alerts/${encodeURIComponent(name)}`;
}
