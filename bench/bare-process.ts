import Fastify from 'fastify';

/** What the route answers, byte for byte, and with which headers. */
export interface BareJob {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface BareStarted {
  readonly url: string;
}

/** A Fastify route that does nothing but answer: what is left of the time is the HTTP server's own. It ends when its parent does. */
process.once('message', async ({ body, headers }: BareJob) => {
  const bytes = Buffer.from(body, 'base64');
  const app = Fastify();
  app.get('/api/endpoints/query/:endpoint', (_request, reply) => reply.headers(headers).send(bytes));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  process.send?.({ url } satisfies BareStarted);
});
process.once('disconnect', () => process.exit());
