import type { ApiError } from '../../api/client.ts';

/** The faults that the service reports for a member of the body or one inside it: `pins`, `pins.project`. */
export function faultOf(error: ApiError | undefined, member: string): string | undefined {
  const own = (error?.errors ?? []).filter(
    ({ parameter }) => parameter === member || parameter.startsWith(`${member}.`),
  );
  if (own.length === 0) return undefined;
  return own.map(({ parameter, message }) => `${parameter} ${message}`).join('; ');
}
