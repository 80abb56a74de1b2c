import type { KeyView } from '../../../../src/http/view.ts';
import { formatCount } from '../../format/number.ts';

/** The limits of a key other than its scopes and expiry. */
export function limitsOf({ endpoints, sources, pins, rate }: KeyView): { name: string; value: string }[] {
  const pinned = Object.entries(pins).map(([name, value]) => `${name} = ${value}`);
  return [
    ...(endpoints === null ? [] : [{ name: 'endpoints', value: endpoints.join(', ') }]),
    ...(sources === null ? [] : [{ name: 'sources', value: sources.join(', ') }]),
    ...(pinned.length === 0 ? [] : [{ name: 'pinned', value: pinned.join(', ') }]),
    ...(rate === null ? [] : [{ name: 'rate', value: describeRate(rate) }]),
  ];
}

function describeRate({ per_second, burst }: NonNullable<KeyView['rate']>): string {
  return `${formatCount(per_second)}/s, ${formatCount(burst)} at once`;
}
