// Imports nothing of the service: management/view.ts uses the names, and the console imports that file.

/** What the audit trail records. */
export const AUDIT_ACTIONS = [
  'created',
  'changed',
  'rotated',
  'revoked',
  'minted',
  'refused',
  'deleted',
  'saved',
  'silenced',
  'unsilenced',
  'signed_in',
  'signed_out',
  'ended',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];
