import { createWeighted } from '../../lib/random.ts';

/** A kind of request at the gateway. `{id}` stands for a UUID. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly search: string | null;
  /** Status of a success; `refusals` has those of rejections. */
  readonly status: number;
  readonly refusals: readonly number[];
  readonly type: string;
  readonly medianMs: number;
  readonly medianBytes: number;
  /** Only browsers send it. */
  readonly isSocket?: true;
}

type Area = Omit<Route, 'method' | 'path' | 'search' | 'status'>;

const json = 'application/json';
const rest: Area = {
  type: `${json}; charset=utf-8`,
  refusals: [400, 401, 403, 404, 406, 409],
  medianMs: 22,
  medianBytes: 1_800,
};
const auth: Area = { type: json, refusals: [400, 401, 403, 422, 429], medianMs: 48, medianBytes: 900 };
const storage: Area = { type: 'image/webp', refusals: [400, 403, 404], medianMs: 65, medianBytes: 48_000 };
const socket: Area = { type: '', refusals: [401, 403], medianMs: 9, medianBytes: 0, isSocket: true };
const other: Area = { type: 'text/html', refusals: [404], medianMs: 4, medianBytes: 180 };

type Row = [weight: number, area: Area, method: string, path: string, search: string | null, status: number];

// Half of the traffic reads and writes tables. Calls of functions are added by src/sample/call.ts.
const ROUTES: readonly Row[] = [
  [16, rest, 'GET', '/rest/v1/orders', '?select=*&order=created_at.desc&limit=20', 206],
  [12, rest, 'GET', '/rest/v1/products', '?select=id,name,price&active=eq.true', 200],
  [7, rest, 'POST', '/rest/v1/rpc/search_products', null, 200],
  [6, rest, 'POST', '/rest/v1/order_items', '?columns=order_id,product_id,qty', 201],
  [4, rest, 'PATCH', '/rest/v1/profiles', '?id=eq.{id}', 204],
  [1, rest, 'DELETE', '/rest/v1/cart_items', '?id=eq.{id}', 204],
  [8, auth, 'POST', '/auth/v1/token', '?grant_type=refresh_token', 200],
  [6, auth, 'GET', '/auth/v1/user', null, 200],
  [2, auth, 'POST', '/auth/v1/otp', null, 200],
  [1, auth, 'POST', '/auth/v1/logout', '?scope=global', 204],
  [10, storage, 'GET', '/storage/v1/object/public/avatars/{id}.webp', null, 200],
  [5, storage, 'GET', '/storage/v1/render/image/public/products/{id}.webp', '?width=480', 200],
  [2, storage, 'POST', '/storage/v1/object/uploads/{id}.webp', null, 200],
  [9, socket, 'GET', '/realtime/v1/websocket', '?vsn=1.0.0', 101],
  [1, other, 'GET', '/', null, 200],
  [1, other, 'GET', '/favicon.ico', null, 404],
];

/** Picks the route of a request. */
export const pickRoute = createWeighted<Route>(
  ROUTES.map(([weight, area, method, path, search, status]) => [
    weight,
    { ...area, method, path, search, status },
  ]),
);
