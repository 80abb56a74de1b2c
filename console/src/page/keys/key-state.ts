import type { KeyView } from '../../../../src/management/view.ts';
import type { Tone } from '../../ui/tag.tsx';

export interface KeyState {
  readonly label: string;
  readonly tone: Tone;
  /** The key is revoked or expired. */
  readonly isOver: boolean;
}

const SOON_MS = 7 * 86_400_000;

/** Whether a key is valid, and for how long. */
export function stateOf(record: KeyView, nowMs: number): KeyState {
  if (record.revoked_at !== null) return { label: 'revoked', tone: 'bad', isOver: true };
  const leftMs =
    record.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(record.expires_at) - nowMs;
  if (leftMs <= 0) return { label: 'expired', tone: 'bad', isOver: true };
  if (record.successor !== null) return { label: 'rotated', tone: 'warn', isOver: false };
  if (leftMs < SOON_MS) return { label: 'expires soon', tone: 'warn', isOver: false };
  return { label: 'good', tone: 'ok', isOver: false };
}
