import type { ProtocolName } from '../../definitions/accepts.ts';
import { elasticsearch } from './elasticsearch.ts';
import { loki } from './loki.ts';
import type { Protocol } from './protocol.ts';

/**
 * The protocols of log senders besides Logflare's and OTLP, in the order of docs/ingest.md. A new one is a file here, a
 * line in this table, its formats in wire-events.ts, and its name in definitions/accepts.ts.
 */
export const PROTOCOLS: Readonly<Record<ProtocolName, Protocol>> = { loki, elasticsearch };
