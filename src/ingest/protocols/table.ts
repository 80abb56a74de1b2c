import type { ProtocolName } from '../../definitions/accepts.ts';
import type { Format } from '../body-format.ts';
import { DATADOG_FORMATS, datadog } from './datadog.ts';
import { ELASTICSEARCH_FORMATS, elasticsearch } from './elasticsearch.ts';
import { FIREHOSE_FORMATS, firehose } from './firehose.ts';
import { HEROKU_FORMATS, heroku } from './heroku.ts';
import { LOGPUSH_FORMATS, logpush } from './logpush.ts';
import { LOKI_FORMATS, loki } from './loki.ts';
import type { Protocol, ProtocolFormat } from './protocol.ts';
import { SPLUNK_FORMATS, splunk } from './splunk.ts';
import { SYSLOG_FORMATS, syslog } from './syslog/syslog.ts';
import { VERCEL_FORMATS, vercel } from './vercel.ts';

/**
 * The protocols of log senders besides Logflare's and OTLP, in the order of docs/senders.md. A new one is a file here,
 * a line in both tables, and its name in definitions/accepts.ts.
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

/** Every format of the protocols' bodies; the decoder's thread reads them from here. */
export const PROTOCOL_FORMATS = {
  ...LOKI_FORMATS,
  ...ELASTICSEARCH_FORMATS,
  ...SPLUNK_FORMATS,
  ...DATADOG_FORMATS,
  ...VERCEL_FORMATS,
  ...LOGPUSH_FORMATS,
  ...FIREHOSE_FORMATS,
  ...HEROKU_FORMATS,
  ...SYSLOG_FORMATS,
} as const satisfies Readonly<Record<ProtocolFormat, Format>>;
