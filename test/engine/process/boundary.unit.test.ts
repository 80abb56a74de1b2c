import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the engine is loaded by the engine process alone', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const loading = files.filter((name) =>
    /from 'chdb|import\('chdb/.test(readFileSync(join('src', name), 'utf8')),
  );
  expect(loading.sort()).toEqual(['engine/process/main.ts']);
});
