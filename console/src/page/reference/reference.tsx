import { useEffect, useMemo } from 'react';
import { useClient } from '../../api/client.ts';
import { query, useRead } from '../../api/queries.ts';
import { Reading } from '../../ui/note.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { Panel } from '../../ui/panel.tsx';
import { listGroups, type OpenApi, sketch } from './openapi.ts';
import { OperationLine, Part } from './operation.tsx';
import './reference.css';

const DOCUMENT = query<OpenApi>('/openapi.json', ['tags', 'paths', 'components']);

/** The operations of the API: without a key those that are the same for all, with one also its endpoints. */
export default function ReferencePage() {
  const { scopes } = useClient().self;
  const { value, error } = useRead(DOCUMENT);
  return (
    <>
      <PageHead title="API reference">
        {scopes.length === 0
          ? 'The operations for every caller. Sign in to see the endpoints of your key.'
          : 'Every operation, with the endpoints that your key may read.'}{' '}
        Generate clients from <a href="/openapi.json">openapi.json</a>.
      </PageHead>
      {(value === undefined || error !== undefined) && <Reading error={error} />}
      {value !== undefined && <Groups document={value} />}
    </>
  );
}

function Groups({ document: spec }: { readonly document: OpenApi }) {
  const groups = useMemo(() => listGroups(spec), [spec]);
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView(), []);
  return (
    <>
      {groups.map(({ name, description, operations }) => (
        <Panel key={name} title={`${name.charAt(0).toUpperCase()}${name.slice(1)}`}>
          <p className="muted small">{description}</p>
          {operations.map((operation) => (
            <OperationLine key={operation.operationId} operation={operation} components={spec.components} />
          ))}
        </Panel>
      ))}
      <Panel title="The body of errors">
        <Part title="application/json" text={sketch({ $ref: 'Error' }, spec.components.schemas)} />
      </Panel>
    </>
  );
}
