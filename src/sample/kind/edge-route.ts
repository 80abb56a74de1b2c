import { createWeighted } from '../../lib/random.ts';

/** A kind of request at the gateway. `{id}` stands for a UUID. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly search: string | null;
  /** Status where nothing goes wrong, and those where the caller is at fault. */
  readonly status: number;
  readonly refusals: readonly number[];
  readonly type: string;
  readonly medianMs: number;
  readonly medianBytes: number;
  /** Sent by browsers alone. */
  readonly isSocket?: true;
}

const JSON_TYPE = 'application/json; charset=utf-8';

const rest = { type: JSON_TYPE, refusals: [400, 401, 403, 404, 406, 409], medianMs: 22, medianBytes: 1_800 };
const auth = {
  type: 'application/json',
  refusals: [400, 401, 403, 422, 429],
  medianMs: 48,
  medianBytes: 900,
};
const storage = { type: 'image/webp', refusals: [400, 403, 404], medianMs: 65, medianBytes: 48_000 };
const socket = { type: '', refusals: [401, 403], medianMs: 9, medianBytes: 0, isSocket: true } as const;
const other = { type: 'text/html', refusals: [404], medianMs: 4, medianBytes: 180 };

/** Picks the route of a request: half of the traffic reads and writes tables, the rest is spread over the other areas. Calls of functions come beside it. */
export const pickRoute = createWeighted<Route>([
  [
    16,
    {
      ...rest,
      method: 'GET',
      path: '/rest/v1/orders',
      search: '?select=*&order=created_at.desc&limit=20',
      status: 206,
    },
  ],
  [
    12,
    {
      ...rest,
      method: 'GET',
      path: '/rest/v1/products',
      search: '?select=id,name,price&active=eq.true',
      status: 200,
    },
  ],
  [7, { ...rest, method: 'POST', path: '/rest/v1/rpc/search_products', search: null, status: 200 }],
  [
    6,
    {
      ...rest,
      method: 'POST',
      path: '/rest/v1/order_items',
      search: '?columns=order_id,product_id,qty',
      status: 201,
    },
  ],
  [4, { ...rest, method: 'PATCH', path: '/rest/v1/profiles', search: '?id=eq.{id}', status: 204 }],
  [1, { ...rest, method: 'DELETE', path: '/rest/v1/cart_items', search: '?id=eq.{id}', status: 204 }],
  [8, { ...auth, method: 'POST', path: '/auth/v1/token', search: '?grant_type=refresh_token', status: 200 }],
  [6, { ...auth, method: 'GET', path: '/auth/v1/user', search: null, status: 200 }],
  [2, { ...auth, method: 'POST', path: '/auth/v1/otp', search: null, status: 200 }],
  [1, { ...auth, method: 'POST', path: '/auth/v1/logout', search: '?scope=global', status: 204 }],
  [
    10,
    {
      ...storage,
      method: 'GET',
      path: '/storage/v1/object/public/avatars/{id}.webp',
      search: null,
      status: 200,
    },
  ],
  [
    5,
    {
      ...storage,
      method: 'GET',
      path: '/storage/v1/render/image/public/products/{id}.webp',
      search: '?width=480',
      status: 200,
    },
  ],
  [
    2,
    { ...storage, method: 'POST', path: '/storage/v1/object/uploads/{id}.webp', search: null, status: 200 },
  ],
  [9, { ...socket, method: 'GET', path: '/realtime/v1/websocket', search: '?vsn=1.0.0', status: 101 }],
  [1, { ...other, method: 'GET', path: '/', search: null, status: 200 }],
  [1, { ...other, method: 'GET', path: '/favicon.ico', search: null, status: 404 }],
]);
