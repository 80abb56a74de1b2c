import type { FastifyInstance } from 'fastify';
import { InputError, messageOf } from '../errors.ts';
import { listenGrpc } from '../http/grpc.ts';
import { followTlsFiles, type TlsContext } from '../http/tls.ts';
import type { Parts } from './parts.ts';

export interface GrpcParts {
  readonly app: FastifyInstance;
  readonly tls: TlsContext | undefined;
}

/** Opens the port of TAILRACE_OTLP_GRPC_PORT. @throws InputError if it cannot be opened */
export async function openGrpc({ config, logger, opened }: Parts, { app, tls }: GrpcParts): Promise<void> {
  const { server, port, close } = await listenGrpc({ app, config, tls }).catch((cause: unknown) => {
    const message = `TAILRACE_OTLP_GRPC_PORT: port ${config.otlpGrpcPort} cannot be opened: ${messageOf(cause)}`;
    throw new InputError([message], { cause });
  });
  opened.defer(close);
  if ('setSecureContext' in server) opened.defer(followTlsFiles(config, server as SecureServer, logger));
  logger.info({ port }, 'OTLP over gRPC is accepted');
}

type SecureServer = Parameters<typeof followTlsFiles>[1];
