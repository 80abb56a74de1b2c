import { Command } from 'commander';
import type { Store } from '../../open-store.ts';
export function sampleCommand(): Command {
  return new Command('sample');
}
export async function fillWithSample(_store: Store, _stop: AbortSignal): Promise<void> {}
