import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

// `vite console` serves the sources themselves, with the API of a service that runs beside it.
const SERVICE = 'http://127.0.0.1:4000';

export default defineConfig({
  plugins: [compress()],
  build: {
    target: 'es2024',
    assetsInlineLimit: 0, // the Content-Security-Policy lets no data: script or font in
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/openapi.json', '/health', '/ready'].map((path) => [path, SERVICE])),
  },
});

const TEXT = /\.(js|css|html|svg)$/;
// Below it the compressed form would hardly be smaller.
const BYTES_MIN = 1_024;

/** Writes each file's compressed forms beside it once, so that the service never compresses one. */
function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const names = (await readdir(dir, { recursive: true })).filter((name) => TEXT.test(name));
      await Promise.all(names.map((name) => compressFile(join(dir, name))));
    },
  };
}

async function compressFile(file: string): Promise<void> {
  const bytes = await readFile(file);
  if (bytes.length < BYTES_MIN) return;
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  await Promise.all([
    writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, quality)),
    writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 })),
  ]);
}
