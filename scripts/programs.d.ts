export type Program = 'alertmanager' | 'chromium' | 'logrotate' | 'nginx' | 'postgres' | 'redis-server';
export function findProgram(program: Program): string | undefined;
export function installPrograms(say: (line: string) => void): void;
