// Known weaknesses of the packages that are shipped, as the registry knows them. Plain JavaScript, as scripts/test.js is.

/**
 * What the answer of `npm audit --json` means.
 *
 * @param {string} stdout
 * @param {string} [reason] why there is no whole answer, such as that it took too long
 * @returns {{ state: 'passed' | 'failed' | 'skipped', message: string }} skipped: the registry was away, or does not audit
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
