/** Request events of `cloudflare.logs.prod`, so many ms apart, the last a minute ago; ids are `e0`, `e1` and on. */
export function edgeEvents(count: number, project = 'p1', stepMs = 1_000): object[] {
  const last = Date.now() - 60_000;
  return Array.from({ length: count }, (_, i) => ({
    id: `e${i}`,
    timestamp: new Date(last - (count - 1 - i) * stepMs).toISOString(),
    project,
    event_message: `GET /rest/v1/${i}`,
    metadata: {
      request: { method: 'GET', path: `/rest/v1/${i}`, url: `https://${project}.example.com/rest/v1/${i}` },
    },
  }));
}

export function toNdjson(events: readonly object[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}
