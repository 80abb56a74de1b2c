import { createWeighted } from '../../lib/random.ts';
import type { Description, Moment } from '../kind.ts';
import { VISITORS } from '../visitor.ts';

interface StorageRequest {
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly medianMs: number;
}

const REQUESTS = [
  [60, 'GET', '/object/public/avatars', 'storage.object.get_public', 34],
  [22, 'GET', '/render/image/public/products', 'storage.render.image_public', 130],
  [12, 'POST', '/object/uploads', 'storage.object.upload', 210],
  [6, 'DELETE', '/object/uploads', 'storage.object.delete', 45],
] as const;

const pickRequest = createWeighted<StorageRequest>(
  REQUESTS.map(([weight, method, path, operation, medianMs]) => [
    weight,
    { method, path, operation, medianMs },
  ]),
);

/** A request at a project's storage server, in `storage.logs.prod.2`. */
export function describeStorageRequest({ random, project, failing }: Moment): Description {
  const { method, path, operation, medianMs } = pickRequest(random);
  const { address, userAgent } = random.pick(VISITORS);
  const failed = failing && random.chance(0.4);
  const statusCode = failed ? 500 : random.chance(0.03) ? random.pick([400, 403, 404]) : 200;
  const url = `${path}/${random.uuid()}.webp`;
  const reqId = random.uuid();
  return {
    message: `${project.ref} | ${method} | ${statusCode} | ${address} | ${reqId} | ${url} | ${userAgent}`,
    metadata: {
      context: [{ host: 'storage-1', pid: 1 }],
      level: failed ? 'error' : statusCode === 200 ? 'info' : 'warn',
      operation,
      project: project.ref,
      rawError: failed ? '{"code":"DatabaseTimeout"}' : null,
      req: {
        headers: { user_agent: userAgent, x_client_info: null },
        hostname: project.host,
        method,
        remoteAddress: address,
        url,
      },
      reqId,
      res: { headers: { content_type: failed ? 'application/json' : 'image/webp' }, statusCode },
      resources: [],
      responseTime: Math.round(random.logNormal(medianMs, 0.6) * 1_000) / 1_000,
      tenantId: project.ref,
      type: 'request',
    },
  };
}
