import fc from 'fast-check';
import { projectValue } from './project.ts';

const PATHS = [
  ...['/rest/v1/todos', '/storage/v1/object/rest', '/auth/v1/token', '/realtime/v1/websocket', '/', ''],
  ...['/storage/auth/rest/realtime', '/rest', '/rest/rest', '/resting', '/REST/v1', 'rest/v1', '/re/st'],
  ...['/v1//auth', '/authentic', '/a/storage', '/é/realtime', '/rest\n/auth', '/rest\u0000/auth'],
];
const path = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...PATHS) },
  { weight: 2, arbitrary: fc.constantFrom<unknown[]>(null, 7, ['/rest'], { path: '/rest' }, true) },
);

const URLS = [
  ...['https://acme.example.co/rest/v1', 'https://acme-eu.example.co/auth', 'http://my-acme.example.co/'],
  ...['https://ACME.example.co/', 'https://acmeXexample.co/storage', 'https://other.example.co/?ref=acme'],
  ...['acme', 'https://é😀.example.co/rest', 'https://acme.example.co/\nrest', 'aacme\u0000b'],
];
const url = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...URLS) },
  { weight: 4, arbitrary: fc.constantFrom<unknown[]>(null, 7, ['https://acme.example.co'], false) },
);

const request = fc.oneof(
  { weight: 10, arbitrary: fc.record({ path, url }, { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown[]>(null, '/rest', [{ path: '/rest' }]) },
);

const record = { request, project_ref: projectValue, project: projectValue };

/** Metadata of a gateway request, path and url present, missing or of a wrong type. */
export const requestMetadata: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 10, arbitrary: fc.record(record, { requiredKeys: ['request'] }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown[]>(null, [], 'text') },
);
