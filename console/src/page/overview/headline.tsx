import type { Overview, Traffic } from '../../../../src/management/view.ts';
import {
  formatBytes,
  formatCount,
  formatMs,
  formatPercent,
  formatSeconds,
  formatShort,
} from '../../format/number.ts';
import { Stat } from '../../ui/stat.tsx';

const STATES = { ready: 'Ready', stopping: 'Stopping', unavailable: 'Away' } as const;

/** The most important numbers. */
export function Headline({ overview }: { readonly overview: Overview }) {
  const { sources, engine, store, window_seconds: seconds, search } = overview;
  const endpoints = search === null ? overview.endpoints : [...overview.endpoints, search];
  const total = (of: (one: Traffic) => number) => endpoints.reduce((sum, one) => sum + of(one), 0);
  const requests = total((one) => one.requests);
  const failures = total((one) => one.failures);
  const slowest = endpoints.reduce<Traffic | undefined>(
    (worst, one) => ((one.p99_ms ?? -1) > (worst?.p99_ms ?? -1) ? one : worst),
    undefined,
  );
  const cached = endpoints.filter((one) => one.hit_ratio !== null);
  const cachedRequests = cached.reduce((sum, one) => sum + one.requests, 0);
  const hits = cached.reduce((sum, one) => sum + (one.hit_ratio ?? 0) * one.requests, 0);
  const window = `last ${formatSeconds(Math.max(60, seconds - (seconds % 60)))}`;
  return (
    <dl className="panel headline">
      <Stat
        label="Engine"
        value={STATES[engine.state]}
        tone={engine.state === 'ready' ? 'ok' : 'bad'}
        below={engine.message ?? `${engine.running} of ${engine.readers} readers busy`}
      />
      <Stat
        label="Requests"
        value={formatShort(total((one) => one.requests_per_minute))}
        unit="/min"
        below={`${formatCount(requests)} in the ${window}`}
      />
      <Stat
        label="Failed"
        value={formatCount(failures)}
        {...(failures > 0 && { tone: 'bad' as const })}
        below={
          requests === 0 ? `no request in the ${window}` : `${formatPercent(failures / requests)} of requests`
        }
      />
      <Stat
        label="Slowest p99"
        value={slowest?.p99_ms == null ? '–' : formatMs(slowest.p99_ms)}
        below={slowest?.p99_ms == null ? 'no request yet' : slowest.name}
      />
      <Stat
        label="Cache hits"
        value={cachedRequests === 0 ? '–' : formatPercent(hits / cachedRequests)}
        below={`${formatCount(store.cache_entries)} cached answers`}
      />
      <Stat
        label="Events in"
        value={formatShort(sources.reduce((sum, one) => sum + one.events_per_second, 0))}
        unit="/s"
        below={`${formatShort(store.rows)} stored, ${formatBytes(store.bytes)}`}
      />
    </dl>
  );
}
