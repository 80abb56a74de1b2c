export type Program =
  | 'chromium'
  | 'logrotate'
  | 'nginx'
  | 'omelasticsearch'
  | 'postgres'
  | 'prometheus'
  | 'promtool'
  | 'redis-server'
  | 'rsyslog'
  | 'rsyslog-gnutls';
export function findProgram(program: Program): string | undefined;
export function installPrograms(say: (line: string) => void, wanted?: readonly Program[]): void;
