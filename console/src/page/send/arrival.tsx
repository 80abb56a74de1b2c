import { useState } from 'react';
import { Link } from 'wouter';
import type { Overview } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { maySearch } from '../../api/right.ts';
import { useOverview } from '../../api/use-overview.ts';
import { formatCount } from '../../format/number.ts';
import { isOwnSource } from '../../format/own-source.ts';
import { QuietButton } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { explorePath } from '../explore/address.ts';

/** Rows of each source. */
type Rows = ReadonlyMap<string, number>;

/** A light that turns on when an event has arrived since the page was opened, or since the light was reset. */
export function Arrival() {
  const { self } = useClient();
  const { value } = useOverview();
  const [before, setBefore] = useState<Rows>();
  if (value !== undefined && before === undefined) setBefore(countRows(value));
  if (!self.scopes.includes('manage'))
    return (
      <Panel title="First event">
        <p className="small muted">A key with the scope manage sees here when the first event has arrived.</p>
      </Panel>
    );
  const arrived = value === undefined || before === undefined ? [] : findArrived(value, before);
  const isOn = arrived.length > 0;
  return (
    <Panel title="First event">
      <p className="arrival" role="status">
        <span className={isOn ? 'arrival-light is-on' : 'arrival-light'} aria-hidden="true" />
        {isOn ? (
          <span>
            {arrived.map(({ name, count }, i) => (
              <span key={name}>
                {i > 0 && ', '}
                {formatCount(count)} in{' '}
                {maySearch(self) ? (
                  <Link href={explorePath({ source: [name] })}>{name}</Link>
                ) : (
                  <code>{name}</code>
                )}
              </span>
            ))}
            : it works.
          </span>
        ) : (
          <span className="muted">No event yet since this page was opened.</span>
        )}
      </p>
      {isOn && <QuietButton onClick={() => setBefore(undefined)}>Wait for another</QuietButton>}
    </Panel>
  );
}

function countRows({ sources }: Overview): Rows {
  return new Map(sources.map(({ name, rows }) => [name, rows]));
}

function findArrived({ sources }: Overview, before: Rows) {
  return sources
    .map(({ name, rows }) => ({ name, count: rows - (before.get(name) ?? 0) }))
    .filter(({ name, count }) => count > 0 && !isOwnSource(name));
}
