import type { ProtocolReply, ProtocolRequest } from '../protocol.ts';

/** Clients of Elasticsearch work only with services that send it. */
export const PRODUCT_HEADERS = { 'x-elastic-product': 'Elasticsearch' };

const COMPATIBLE = /application\/vnd\.elasticsearch\+json; ?compatible-with=(\d{1,2})\b/;

/** The media type that a client asks for. */
export function typeFor(request: Pick<ProtocolRequest, 'headers'>): string {
  const [, version] = COMPATIBLE.exec(String(request.headers['accept'])) ?? [];
  return version === undefined
    ? 'application/json'
    : `application/vnd.elasticsearch+json;compatible-with=${version}`;
}

/** Whether the sender of a request for `/` is a client of Elasticsearch, not a browser. */
export function isElasticsearchClient(request: Pick<ProtocolRequest, 'headers'>): boolean {
  const accept = String(request.headers['accept']);
  if (accept.includes('text/html')) return false;
  return (
    /application\/(?:vnd\.elasticsearch\+)?json/.test(accept) ||
    /elastic|logstash|beat\b|fluent-bit/i.test(String(request.headers['user-agent']))
  );
}

/** What clients read at `/` before they send events: a version of which they know the protocol. */
export function describeProduct(request: Pick<ProtocolRequest, 'headers'>): ProtocolReply {
  return {
    status: 200,
    headers: PRODUCT_HEADERS,
    type: typeFor(request),
    body: {
      name: 'tailrace',
      cluster_name: 'tailrace',
      cluster_uuid: 'tailrace',
      version: {
        number: '9.0.0',
        lucene_version: '10.1.0',
        minimum_wire_compatibility_version: '8.18.0',
        minimum_index_compatibility_version: '8.0.0',
      },
      tagline: 'You Know, for Search',
    },
  };
}
