import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { TailraceError } from '../../errors.ts';

/** Answers 405 with `Allow` where a path exists but not for the method, before any body is read. */
export function registerMethodCheck(
  app: FastifyInstance,
  allowed: Readonly<Record<string, readonly string[]>>,
): void {
  // Those that Node reads and Fastify does not know, such as PROPFIND: to it their paths would not exist.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  for (const [url, methods] of Object.entries(allowed)) {
    const others = app.supportedMethods.filter((method) => !methods.includes(method));
    app.route({
      method: others,
      url,
      onRequest: (request) => {
        const allow = methods.join(', ');
        const message = `${request.method} is not allowed here; use ${allow}`;
        throw new TailraceError('method_not_allowed', message, { headers: { allow } });
      },
      handler: () => {},
    });
  }
}
