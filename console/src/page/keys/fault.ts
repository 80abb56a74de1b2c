import type { ApiError } from '../../api/client.ts';

/** What the service says is wrong with a member of the body, or with one inside it: `pins`, `pins.project`. */
export function faultOf(error: ApiError | undefined, member: string): string | undefined {
  const own = (error?.errors ?? []).filter(
    ({ parameter }) => parameter === member || parameter.startsWith(`${member}.`),
  );
  if (own.length === 0) return undefined;
  return own.map(({ parameter, message }) => `${parameter} ${message}`).join('; ');
}
