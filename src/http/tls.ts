import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config/config.ts';
import { InputError, messageOf } from '../errors.ts';

type TlsFiles = Pick<Config, 'tlsCertFile' | 'tlsKeyFile'>;

export type TlsContext = ReturnType<typeof readPair>;

/**
 * Reads certificate and key. `undefined`: the settings name none, so the service speaks HTTP without TLS.
 * @throws InputError that names the wrong file and its fault
 */
export function readTlsContext(files: TlsFiles): TlsContext | undefined {
  return files.tlsCertFile === '' ? undefined : readPair(files);
}

function readPair({ tlsCertFile, tlsKeyFile }: TlsFiles) {
  const cert = readPem(tlsCertFile, 'TAILRACE_TLS_CERT_FILE', 'certificate');
  const key = readPem(tlsKeyFile, 'TAILRACE_TLS_KEY_FILE', 'private key');
  const context = { cert, key, minVersion: 'TLSv1.2' } as const;
  try {
    createSecureContext(context);
    return context;
  } catch (error) {
    // OpenSSL's reason names a rule, never a part of the key.
    const fault = `${tlsCertFile} and ${tlsKeyFile} cannot be used: ${messageOf(error)}`;
    const remedy = 'they must be a PEM certificate and its own key, not encrypted';
    throw new InputError([`${fault}; ${remedy}`], { cause: error });
  }
}

function readPem(file: string, variable: string, what: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new InputError([`${variable}: ${file} cannot be read: ${messageOf(error)}`], { cause: error });
  }
  if (bytes.includes('-----BEGIN ')) return bytes;
  throw new InputError([`${variable}: ${file} does not contain a PEM ${what}, which begins with -----BEGIN`]);
}

// Polled: certificates are often replaced by renaming the folder behind a symbolic link, which no other watcher sees.
const POLL_MS = 1_000;

/**
 * Uses changed files for new connections. While the changed pair is invalid the old one stays, and the log says why.
 * @returns stops polling
 */
export function followTlsFiles(
  files: TlsFiles,
  server: { setSecureContext(pair: TlsContext): void },
  logger: Pick<FastifyBaseLogger, 'info' | 'error'>,
): () => void {
  const reload = () => {
    try {
      server.setSecureContext(readPair(files));
      logger.info('the TLS certificate was read again');
    } catch (error) {
      const faults = error instanceof InputError ? error.faults : [messageOf(error)];
      logger.error({ faults }, 'the changed TLS certificate cannot be used: the old one stays');
    }
  };
  const names = [files.tlsCertFile, files.tlsKeyFile];
  for (const name of names) watchFile(name, { interval: POLL_MS, persistent: false }, reload);
  return () => {
    for (const name of names) unwatchFile(name, reload);
  };
}
