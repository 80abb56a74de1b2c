import { useEffect, useRef } from 'react';
import './reference.css';
import SwaggerUIBundle, { type Plugin } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { useClient } from '../../api/client.ts';
import { query, useRead } from '../../api/queries.ts';
import { readKey } from '../../api/session.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { listOnce, type OpenApi } from './list-once.ts';

const DOCUMENT = query<OpenApi>('/openapi.json', ['paths', 'components']);

/** The operations of the API, to try: without a key those that are the same for all, with one also its endpoints. */
export function ReferencePage() {
  const { scopes } = useClient().self;
  const { value, error } = useRead(DOCUMENT);
  return (
    <>
      <div className="page-head">
        <h1>API reference</h1>
        <p>
          {scopes.length === 0
            ? 'The operations for every caller. Sign in to see the endpoints of your key, and to try them.'
            : 'Every operation, with the endpoints that your key may read. When you try one, it is sent with your key.'}{' '}
          Generate clients from <a href="/openapi.json">openapi.json</a>.
        </p>
      </div>
      {error !== undefined && <ErrorNote error={error} />}
      {value === undefined && error === undefined && <p className="muted">Reading…</p>}
      {value !== undefined && <Operations document={value} />}
    </>
  );
}

function Operations({ document: spec }: { readonly document: OpenApi }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Swagger UI cannot be taken out of an element again, so each time gets a new one.
    const domNode = document.createElement('div');
    place.current?.replaceChildren(domNode);
    const observer = new MutationObserver(() => nameControls(domNode));
    observer.observe(domNode, { childList: true, subtree: true });
    SwaggerUIBundle({
      spec: listOnce(spec),
      domNode,
      deepLinking: true,
      plugins: [onlyOperations],
      layout: 'OnlyOperations',
      defaultModelsExpandDepth: -1,
      displayRequestDuration: true,
      docExpansion: 'list',
      // Its colours would be those of a dark page, in the light theme too.
      syntaxHighlight: { activated: false },
      // Otherwise a validator on another host would receive this document.
      validatorUrl: null,
      // People share the curl command, so it must not contain the key.
      showMutatedRequest: false,
      requestInterceptor(request: { headers: Record<string, string> }) {
        const key = readKey();
        if (key !== undefined) request.headers['X-API-KEY'] ??= key;
        else request.headers['X-Tailrace-Console'] = '1';
        return request;
      },
    });
    return () => observer.disconnect();
  }, [spec]);
  return (
    <section aria-labelledby="operations">
      <h2 id="operations" className="visually-hidden">
        Operations
      </h2>
      <div className="reference" ref={place} />
    </section>
  );
}

/** Leaves out what the page has itself: `main`, title, sign-in. Names of operations are in buttons, which may contain no links. */
const onlyOperations: Plugin = ({ React: { createElement } }) => {
  const layout = ({
    getComponent,
  }: {
    readonly getComponent: (name: string, isContainer: boolean) => unknown;
  }) =>
    createElement('div', { className: 'swagger-ui' }, createElement(getComponent('operations', true), null));
  const text = (props: { readonly text: string }) => createElement('span', null, props.text);
  return { components: { OnlyOperations: layout, DeepLink: text } };
};

/** Names the controls of parameters: Swagger UI does not. */
function nameControls(operations: HTMLElement): void {
  for (const control of operations.querySelectorAll('tr[data-param-name] :is(input, select, textarea)')) {
    const { paramName } = control.closest('tr')?.dataset ?? {};
    if (paramName !== undefined) control.setAttribute('aria-label', paramName);
  }
}
