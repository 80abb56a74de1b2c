import type { Protocol } from '../protocol.ts';

/** Syslog over its own ports; listen.ts opens them. */
export const syslog: Protocol = {
  docs: {
    title: 'Syslog',
    address: 'the ports of [`TAILRACE_SYSLOG`](settings.md#tailrace_syslog): TCP, TLS, UDP',
    tested: 'rsyslog (TCP, UDP, TLS), syslog-client, winston-syslog (`eol: "\\n"`)',
    key: 'none: `allow` names networks, `ca` who signs certificates of senders',
    timestamp: 'time of the line, without a year (RFC 3164) UTC; else the arrival',
    message: 'text of the line',
    project: '`project` of the port, else the parameter `project` of structured data `tailrace`',
    metadata: '`level`, `facility`, `host`, `app`, `process`, `message_id`, structured data as `data`',
    labels: '`app`, `host`, `facility`, `level`',
    answers: 'none: lines that were under way are lost if the service ends',
  },
  findKey: () => undefined,
  events: [],
  info: [],
  refuse: ({ status, message }) => ({ status, body: { error: message } }),
};
