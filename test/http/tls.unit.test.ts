import { expect, test } from 'vitest';
import { readTlsContext } from '../../src/http/tls.ts';

const CERT = 'trial/tls/one.cert.pem';
const KEY = 'trial/tls/one.key.pem';

test('a pair for HTTPS is read; without one the service speaks HTTP', () => {
  expect(readTlsContext({ tlsCertFile: CERT, tlsKeyFile: KEY })).toMatchObject({ minVersion: 'TLSv1.2' });
  expect(readTlsContext({ tlsCertFile: '', tlsKeyFile: '' })).toBeUndefined();
});

test.each([
  ['none.pem', KEY, /^TAILRACE_TLS_CERT_FILE: none\.pem cannot be read: ENOENT/],
  [CERT, 'trial', /^TAILRACE_TLS_KEY_FILE: trial cannot be read: EISDIR/],
  ['package.json', KEY, /^TAILRACE_TLS_CERT_FILE: package\.json does not contain a PEM certificate/],
])(
  'certificate %s with key %s is refused by the setting that names the wrong file',
  (tlsCertFile, tlsKeyFile, why) => {
    expect(() => readTlsContext({ tlsCertFile, tlsKeyFile })).toThrow(why);
  },
);
