import { createAlertMetrics } from '../../src/telemetry/alert-metrics.ts';
import { createMetrics, type GaugedParts, registerGauges } from '../../src/telemetry/metrics.ts';
import { page } from './page.ts';

const INTRODUCTION = `Read what \`/metrics\` exposes to a key with the scope \`metrics\` or \`manage\`, beside \`process_*\` and \`nodejs_*\`
([scrape configuration, rules, dashboard](prometheus.md)). A key with lists reads only the series of its endpoints and sources.`;

/** docs/metrics.md: each metric with its help. */
export function metricsPage(): string {
  const { registry } = createMetrics(Date.now);
  // The parts are read by scrapes only, and nothing is scraped here.
  registerGauges(registry, {} as GaugedParts);
  createAlertMetrics(registry, {} as Parameters<typeof createAlertMetrics>[1]);
  const lines = registry.exposed
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map(({ name, help }) => `- \`${name}\`: ${help.replace(/\.$/, '')}`);
  return page('Metrics', INTRODUCTION, lines.join('\n'));
}
