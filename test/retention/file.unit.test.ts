import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { clockFile } from '../../src/retention/file.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

test('a note of the clock that is damaged, or says no date, is as if it were not there', async () => {
  const file = clockFile(folder.path);
  for (const text of ['', '{', '{}', '{"seen_ms":"1"}', '{"seen_ms":1e300}', '{"seen_ms":-1}']) {
    await writeFile(join(folder.path, 'clock.json'), text);
    expect(file.read(), text).toBe(undefined);
  }
  file.write({ seen_ms: 1_795_000_000_000 });
  expect(file.read()).toEqual({ seen_ms: 1_795_000_000_000 });
});
