import type { Registry } from '../definitions/registry.ts';
import { isListed } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { describeRetention } from '../retention/notice.ts';
import type { RetentionSchedule } from '../retention/schedule.ts';
import type { RetentionView } from './admin-view.ts';

export interface RetentionParts {
  readonly retention: Pick<RetentionSchedule, 'review'>;
  readonly registry: Registry;
}

/** Returns what is due now, and what waits for an operator: of the sources that the caller may know of. */
export async function readRetention(
  { retention, registry }: RetentionParts,
  { sources }: Caller,
): Promise<RetentionView> {
  const report = await retention.review();
  const notice = describeRetention(report);
  const shown = report.due.filter(({ source: name }) => {
    const source = registry.findSource(name);
    return sources === undefined || (source !== undefined && isListed(sources, source));
  });
  return {
    stopped: [...(notice?.stopped ?? [])],
    message: notice?.message ?? null,
    due: shown.map(({ source, reason, held = null, days, percent }) => ({
      ...{ source, reason, held, percent },
      first_day: days[0]?.day ?? '',
      last_day: days.at(-1)?.day ?? '',
      days: days.length,
      rows: days.reduce((sum, { rows }) => sum + rows, 0),
      bytes: days.reduce((sum, { bytes }) => sum + bytes, 0),
    })),
  };
}
