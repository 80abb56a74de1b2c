import type { ReactNode } from 'react';
import type { Overview } from '../../../../src/management/view.ts';
import { formatBytes, formatCount } from '../../format/number.ts';
import { Panel } from '../../ui/panel.tsx';
import { Ago } from '../../ui/time/time.tsx';

/** Load and size of the engine and the store, with their bounds. */
export function EngineState({ overview }: { readonly overview: Overview }) {
  const { engine, store, started_at: startedAt, at } = overview;
  const nowMs = Date.parse(at);
  return (
    <Panel title="Engine and store">
      <dl className="overview-facts">
        <Fact label="Readers busy" share={engine.running / engine.readers}>
          {engine.running} of {engine.readers}
        </Fact>
        <Fact label="Queries waiting">{formatCount(engine.queued)}</Fact>
        <Fact label="Cache" share={store.cache_bytes / store.cache_bytes_max}>
          {formatBytes(store.cache_bytes)} of {formatBytes(store.cache_bytes_max)}
        </Fact>
        <Fact label="Ingest backlog">{formatBytes(store.ingest_queued_bytes)}</Fact>
        <Fact label="Stored">
          {formatCount(store.rows)} events, {formatBytes(store.bytes)}
        </Fact>
        {engine.memory_bytes !== null && (
          <Fact label="Engine memory">{formatBytes(engine.memory_bytes)}</Fact>
        )}
        <Fact label="Engine restarts">{formatCount(engine.restarts)}</Fact>
        <Fact label="Running since">
          <Ago iso={startedAt} nowMs={nowMs} />
        </Fact>
      </dl>
    </Panel>
  );
}

function Fact({
  label,
  share,
  children,
}: {
  readonly label: string;
  readonly share?: number;
  readonly children: ReactNode;
}) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className="number">
        {children}
        {share !== undefined && (
          <span className="overview-meter" aria-hidden="true">
            <span style={{ width: `${Math.min(100, share * 100)}%` }} />
          </span>
        )}
      </dd>
    </div>
  );
}
