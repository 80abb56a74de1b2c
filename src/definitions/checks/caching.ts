import { endpointFields } from '../endpoint.ts';
import type { Fault } from '../fault.ts';
import type { YamlFile } from '../yaml-file.ts';

/** Warming refreshes cached answers: it needs a cache, and an interval shorter than an answer's life (spec 2.1). */
export function checkCaching(file: YamlFile): Fault[] {
  const { caching, cache_warming: warming } = endpointFields(file);
  if (warming === undefined) return [];
  if (caching === 'disabled') {
    return [
      file.fault(['cache_warming'], '"cache_warming" needs caching; remove it or give "caching" in seconds'),
    ];
  }
  if (warming < caching) return [];
  return [
    file.fault(
      ['cache_warming'],
      `"cache_warming" must be less than "caching" (${caching} seconds), or an answer dies before its refresh`,
    ),
  ];
}
