// Before a run (vitest.config.ts): a folder for all temporary files of its workers, so that nothing is left behind.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default function setup(): () => void {
  const own = mkdtempSync(join(tmpdir(), 'tailrace-run-'));
  chmodSync(own, 0o711); // PostgreSQL runs as another user if the tests run as root
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = own; // workers inherit it
  const remove = () => rmSync(own, { recursive: true, force: true, maxRetries: 10 });
  process.once('exit', remove); // a run that reaches its bound has no end of its own
  return () => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    remove();
  };
}
