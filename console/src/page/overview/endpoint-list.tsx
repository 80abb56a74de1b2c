import { Link } from 'wouter';
import type { EndpointView } from '../../../../src/http/view.ts';
import { Empty } from '../../ui/empty.tsx';
import { Panel } from '../../ui/panel.tsx';

/** The endpoints of a key that may not see the traffic. */
export function EndpointList({ endpoints }: { readonly endpoints: readonly EndpointView[] }) {
  return (
    <Panel title="Endpoints">
      {endpoints.length === 0 ? (
        <Empty title="This key may read no endpoint">
          Ask whoever gave it to you for one that may, or sign in with another.
        </Empty>
      ) : (
        <ul className="endpoint-list">
          {endpoints.map(({ name, description }) => (
            <li key={name}>
              <Link href={`/endpoints/${name}`}>{name}</Link>
              <span className="muted">{description}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
