import Fastify from 'fastify';

/** The body and headers of the route's response. */
export interface BareJob {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface BareStarted {
  readonly url: string;
}

/** A Fastify route with a constant response: the cost of the HTTP server alone. It ends with its parent. */
process.once('message', async ({ body, headers }: BareJob) => {
  const bytes = Buffer.from(body, 'base64');
  const app = Fastify();
  app.get('/api/endpoints/query/:endpoint', (_request, reply) => reply.headers(headers).send(bytes));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  process.send?.({ url } satisfies BareStarted);
});
process.once('disconnect', () => process.exit());
