export type Program = 'chromium' | 'nginx' | 'omelasticsearch' | 'postgres' | 'redis-server' | 'rsyslog';
export function findProgram(program: Program): string | undefined;
export function installPrograms(say: (line: string) => void, wanted?: readonly Program[]): void;
