export function run(
  command: string,
  args: readonly string[],
  options?: { readonly env?: Readonly<Record<string, string>>; readonly timeoutMs?: number },
): Promise<number>;

export function runQuietly(
  command: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly output: string }>;
