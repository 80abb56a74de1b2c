import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { sendCommand } from '../../src/maintenance/socket/client.ts';
import { COMMANDS } from '../../src/maintenance/socket/protocol.ts';

afterEach(() => vi.restoreAllMocks());

test('no command is sent to a socket in a folder of another user, which could ask for a key', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tailrace-socket-'));
  try {
    mkdirSync(join(dataDir, 'local'));
    const send = () => sendCommand(dataDir, COMMANDS.describe, {});
    expect(await send()).toBeUndefined();
    vi.spyOn(process, 'getuid').mockReturnValue(4_711);
    await expect(send()).rejects.toThrow('belongs to another user; run this command as that user');
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});
