import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { sizeEngine } from '../../src/config/setting.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

describe('defaults that follow the machine', () => {
  test.each([
    [1, 1, 2, 512, 64, 2, 32],
    [64, 512, 16, 131_072, 2_048, 16, 512],
  ])('%i cores and %i GiB', (cores, gib, readers, engine, cache, mergeThreads, marks) => {
    const machine = { cores, memoryBytes: gib * GIB };
    expect(parseConfig({}, machine)).toMatchObject({
      readers,
      engineMemoryBytesMax: engine * MIB,
      cacheBytesMax: cache * MIB,
    });
    expect(sizeEngine(machine, engine * MIB)).toEqual({ mergeThreads, markCacheBytes: marks * MIB });
  });
});
