/** Why lines of syslog, or a connection that is not allowed, are lost. */
export const SYSLOG_LOSSES = ['too_long', 'queue_full', 'not_allowed', 'not_stored'] as const;

export type SyslogLoss = (typeof SYSLOG_LOSSES)[number];
