import { PROTOCOL_NAMES } from '../../src/definitions/accepts.ts';
import type { Protocol } from '../../src/ingest/protocols/protocol.ts';
import { PROTOCOLS } from '../../src/ingest/protocols/table.ts';
import { page, wrap } from './page.ts';

/** docs/senders.md: a section for each protocol. */
export function sendersPage(): string {
  return page(
    'Senders for other services',
    `Change the address and the key of these senders. All but syslog may also send \`X-API-KEY\` or \`Authorization: Bearer\`. The source of an
event is that of the header \`X-Source\`, else the one that [accepts](sources.md#events-of-other-protocols) one of its labels, else
[\`logs\`](shipped-sources.md#logs). With 400 some events are rejected; with 503 nothing is stored. Without an \`Idempotency-Key\`, which
Firehose and Heroku send, events may be stored twice.`,
    PROTOCOL_NAMES.map((name) => section(name, PROTOCOLS[name])).join('\n\n'),
  );
}

function section(name: string, { docs, events }: Protocol): string {
  const items = [
    `${docs.address ?? showPaths(events)}; key: ${docs.key}`,
    `\`timestamp\`: ${docs.timestamp}; \`event_message\`: ${docs.message}; \`project\`: ${docs.project}`,
    `\`metadata\`: ${docs.metadata}; \`${name}\` labels: ${docs.labels}`,
    `Response: ${docs.answers}. Tested: ${docs.tested}`,
  ];
  return `## ${docs.title}\n\n${items.map((item) => wrap(`- ${item}`)).join('\n')}`;
}

function showPaths(events: Protocol['events']): string {
  const paths = new Set(events.flatMap(({ path }) => path));
  return [...paths].map((path) => `\`${path.replace(/:(\w+)/, '<$1>')}\``).join(', ');
}
