// Known vulnerabilities of the shipped packages, from the registry. Plain JavaScript, as scripts/test.js is.

/**
 * Evaluates the output of `npm audit --json`.
 *
 * @param {string} stdout
 * @param {string} [reason] why the output is incomplete, such as a timeout
 * @returns {{ state: 'passed' | 'failed' | 'skipped', message: string }} skipped: the registry is unavailable, or does not audit
 */
export function judgeAudit(stdout, reason) {
  if (reason !== undefined) return { state: 'skipped', message: reason };
  const answer = parse(stdout);
  const counts = answer?.metadata?.vulnerabilities;
  if (counts === undefined) {
    const told = answer?.error?.summary || answer?.message || 'it gave no audit';
    return { state: 'skipped', message: `the registry does not answer audits: ${firstLine(told)}` };
  }
  const grave = (counts.high ?? 0) + (counts.critical ?? 0);
  if (grave === 0)
    return { state: 'passed', message: `no weakness of high severity; ${counts.total ?? 0} of lesser` };
  const names = Object.values(answer.vulnerabilities ?? {})
    .filter((one) => one.severity === 'high' || one.severity === 'critical')
    .map((one) => `${one.name} (${one.severity})`);
  return { state: 'failed', message: `${grave} of high or critical severity: ${names.join(', ')}` };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function firstLine(text) {
  return String(text).split('\n')[0].slice(0, 200);
}
