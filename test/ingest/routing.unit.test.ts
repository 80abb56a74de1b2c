import { expect, test } from 'vitest';
import { type AcceptedProtocol, createAccepts } from '../../src/definitions/accepts.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { createRegistry } from '../../src/definitions/registry.ts';
import type { Source } from '../../src/definitions/source.ts';
import type { BodyFormat } from '../../src/ingest/body-format.ts';
import { decodeBatch } from '../../src/ingest/decode-batch.ts';

const NOW_MS = Date.UTC(2026, 10, 20);
const rules = { now: NOW_MS * 1_000, eventBytesMax: 10_000, project: 'p' };
const json = (value: unknown) => JSON.stringify(value);
const otlp = (name: string) => ({
  resource: { attributes: [{ key: 'service.name', value: { stringValue: name } }] },
  scopeLogs: [{ logRecords: [{ body: { stringValue: 'x' } }] }],
});
const loki = (app: string) => ({ stream: { app }, values: [[`${NOW_MS}000000`, 'x']] });

type Write = (values: readonly string[]) => string;
type Body = readonly [AcceptedProtocol, label: string, BodyFormat, Write];

/** A body of each protocol with an event for each value of the label. */
const BODIES: readonly Body[] = [
  ['loki', 'app', 'loki-json', (all) => json({ streams: all.map(loki) })],
  ['otlp', 'service.name', 'otlp-json', (all) => json({ resourceLogs: all.map(otlp) })],
  [
    'elasticsearch',
    'index',
    'elasticsearch-bulk',
    (all) => all.map((_index) => `${json({ index: { _index } })}\n{}\n`).join(''),
  ],
];

const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
const LOGS = createRegistry(definitions).getSource('logs');

type Rule = readonly [AcceptedProtocol, label: string, ...unknown[]];

function accepting(name: string, equals: string, labels: readonly Rule[]): Source {
  return {
    ...LOGS,
    id: name,
    name,
    accepts: createAccepts(labels.map(([protocol, label]) => ({ protocol, label, equals }))),
  };
}

test.each(BODIES)(
  'an event of %s goes to the source that accepts its %s, else to the general one',
  (...body) => {
    const [protocol, label, format, write] = body;
    const bytes = Buffer.from(write(['gateway', 'shop-1', 'shop-', 'shop', 'gateways', 'gateway']));
    /** Returns the events of each source. */
    const route = (...candidates: Source[]) => {
      const input = { bytes, format, protocol, source: undefined, candidates, rules };
      const { parts, rejected } = decodeBatch(input);
      return {
        ...Object.fromEntries(parts.map(({ source, stored }) => [source.name, stored])),
        rejected,
      };
    };
    const general = accepting('logs', 'none', []);
    const exact = accepting('exact', 'gateway', BODIES);
    const beginning = accepting('beginning', 'shop-*', BODIES);
    expect(route(general, exact, beginning)).toEqual({ exact: 2, beginning: 2, logs: 2, rejected: 0 });
    expect(route(exact)).toEqual({ exact: 2, rejected: 4 });
    const others = BODIES.filter(([name]) => name !== protocol).map(([name]): Rule => [name, label]);
    expect(route(general, accepting('exact', 'gateway', others))).toEqual({ logs: 6, rejected: 0 });
  },
);
