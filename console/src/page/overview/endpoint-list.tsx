import { Link } from 'wouter';
import type { EndpointView } from '../../../../src/management/view.ts';
import { Empty } from '../../ui/empty.tsx';
import { Panel } from '../../ui/panel.tsx';

/** The endpoints of a key that may not see the traffic. */
export function EndpointList({ endpoints }: { readonly endpoints: readonly EndpointView[] }) {
  return (
    <Panel title="Endpoints">
      {endpoints.length === 0 ? (
        <Empty title="This key may read no endpoint">
          Sign in with a key that may read endpoints, or ask for one.
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
