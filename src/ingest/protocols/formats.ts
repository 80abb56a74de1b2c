import type { Format } from '../body-format.ts';
import { DATADOG_FORMATS } from './datadog/decode.ts';
import { ELASTICSEARCH_FORMATS } from './elasticsearch/decode.ts';
import { FIREHOSE_FORMATS } from './firehose/decode.ts';
import { HEROKU_FORMATS } from './heroku/decode.ts';
import { LOGPUSH_FORMATS } from './logpush/decode.ts';
import { LOKI_FORMATS } from './loki/decode.ts';
import { SPLUNK_FORMATS } from './splunk/decode.ts';
import { SYSLOG_FORMATS } from './syslog/decode.ts';
import { VERCEL_FORMATS } from './vercel/decode.ts';

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
} as const satisfies Readonly<Record<string, Format>>;

export type ProtocolFormat = keyof typeof PROTOCOL_FORMATS;
