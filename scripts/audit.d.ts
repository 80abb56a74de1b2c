export function judgeAudit(
  stdout: string,
  reason?: string,
): { state: 'passed' | 'failed' | 'skipped'; message: string };
