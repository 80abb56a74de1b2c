import type { ProtocolName } from '../../definitions/accepts.ts';
import { datadog } from './datadog/datadog.ts';
import { elasticsearch } from './elasticsearch/elasticsearch.ts';
import { firehose } from './firehose/firehose.ts';
import { heroku } from './heroku/heroku.ts';
import { logpush } from './logpush/logpush.ts';
import { loki } from './loki/loki.ts';
import type { Protocol } from './protocol.ts';
import { splunk } from './splunk/splunk.ts';
import { syslog } from './syslog/syslog.ts';
import { vercel } from './vercel/vercel.ts';

/**
 * The protocols of log senders besides Logflare's and OTLP, in the order of docs/senders.md. A new one is a folder here, a line in this table, one in
 * formats.ts, and its name in definitions/accepts.ts.
 */
export const PROTOCOLS: Readonly<Record<ProtocolName, Protocol>> = {
  loki,
  elasticsearch,
  splunk,
  datadog,
  vercel,
  logpush,
  firehose,
  heroku,
  syslog,
};
