import type { Config } from '../../config/config.ts';

/** Returns why alerts cannot be saved here; `undefined` if they can. */
export function findAlertRefusal({
  config,
}: {
  readonly config: Pick<Config, 'editEndpoints'>;
}): string | undefined {
  if (config.editEndpoints !== '0') return undefined;
  return 'this service does not write alerts: copy the text into its file, or set TAILRACE_EDIT_ENDPOINTS=1';
}
