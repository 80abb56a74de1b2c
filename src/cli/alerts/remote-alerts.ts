import { callRemote, type Remote } from '../remote.ts';

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
  const path = `/api/alerts/${encodeURIComponent(name)}/test`;
  return (await callRemote(remote, path, { body: {}, signal })) as RemoteTest; // by its route
}
